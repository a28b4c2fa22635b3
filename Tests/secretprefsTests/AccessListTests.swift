import Foundation
import PreferencesTestSupport
import Testing

/// Files with an access control list that a command replaces.
@Suite(.enabled(if: AccessList.isSupported, "the file system has no access control lists"))
struct AccessListTests {
  @Test func `an identity file and the files of the configuration keep their lists`() throws {
    let home = try Scratch()
    let made = try Tool.shell(
      """
      secretprefs init --key-file k && secretprefs identity new id >public &&
      secretprefs slots add --key-file k --public-key - <public >pin && secretprefs config set history 3 &&
      secretprefs config set --project service a
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let paths = [home.file("id"), home.file(".config/secretprefs/config"), home.file(".secretprefs")]
    for path in paths { try #require(AccessList.isSet(on: path)) }
    let outcome = try Tool.shell(
      """
      secretprefs identity trust id - <pin && secretprefs config set history 4 &&
      secretprefs config set --project service b
      """, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    for path in paths { #expect(AccessList.of(path) == AccessList.bytes(), "\(path)") }
  }
}
