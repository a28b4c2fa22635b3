import Preferences
import Testing

struct PreferencesErrorTests {
  @Test func `the description is code and message, without the cause`() {
    let error = PreferencesError(.unavailable, "it is locked", cause: FailingPreferences.Locked())
    #expect("\(error)" == "unavailable: it is locked")
    #expect(error.cause is FailingPreferences.Locked)
  }

  @Test(arguments: [
    ("a\nb", "a\\u{A}b"), ("\u{7F}\u{9F}", "\\u{7F}\\u{9F}"), ("\r\n", "\\u{D}\\u{A}"),
    ("\u{200E}\u{200F}\u{202A}\u{2069}\u{61C}", "\\u{200E}\\u{200F}\\u{202A}\\u{2069}\\u{61C}"),
    ("é 🦊 \\ שלום", "é 🦊 \\ שלום"),
  ])
  func `a message is one line that reads in one direction`(text: String, message: String) {
    #expect(PreferencesError(.malformed, text).message == message)
  }

  @Test func `codes can be matched and extended`() {
    let mine = PreferencesError.Code(rawValue: "mine")
    #expect(PreferencesError(mine, "").code == mine)
    #expect(mine != .typeMismatch)
  }
}
