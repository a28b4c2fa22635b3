import Testing

@testable import secretprefs

/// Keys in the bytes of a terminal.
struct SettingsKeyTests {
  private func keys(_ text: String) -> [KeyPress] {
    var decoder = KeyDecoder()
    return decoder.keys(in: Array(text.utf8))
  }

  @Test(
    arguments: [
      ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OC\u{1B}OD", [.right, .left]), ("\u{1B}[1~\u{1B}[F", [.home, .end]),
      ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\r\n", [.enter, .enter]),
      ("\u{7F}\u{8}", [.backspace, .backspace]),
      ("q\u{4}", [.character("q"), .control("d")]), ("\u{1B}[3~ü日", [.delete, .character("ü"), .character("日")]),
    ] as [(String, [KeyPress])])
  func `keys are decoded in order`(_ text: String, _ expected: [KeyPress]) { #expect(keys(text) == expected) }

  @Test(arguments: ["\u{1B}[B", "\u{1B}[5~", "日", "\u{1B}OA", "\u{1B}[200~r\ny\u{1B}[A\u{1B}[201~"])
  func `a key whose bytes arrive one by one is one key`(_ text: String) {
    var decoder = KeyDecoder()
    let found = text.utf8.flatMap { decoder.keys(in: [$0]) }
    #expect(found == keys(text))
    #expect(found.count == 1)
  }

  @Test func `an escape is a key when nothing follows`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: [0x1B]).isEmpty)
    #expect(decoder.keysAfterPause() == [.escape])
    #expect(decoder.keysAfterPause().isEmpty)
  }

  @Test func `a pause inside of a sequence is no escape`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: [0x1B, 0x5B]).isEmpty)
    #expect(decoder.keysAfterPause().isEmpty)
    #expect(decoder.keys(in: [0x41]) == [.up])
  }

  @Test(arguments: ["", "r\ny", "\u{1B}[200~\u{1B}", "日\t\u{3}"])
  func `what is pasted is one key, whatever is in it`(_ text: String) {
    #expect(keys("a\u{1B}[200~\(text)\u{1B}[201~b") == [.character("a"), .paste(text), .character("b")])
  }

  @Test func `a pause inside of a paste is no escape`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: Array("\u{1B}[200~a\u{1B}".utf8)).isEmpty)
    #expect(decoder.keysAfterPause().isEmpty)
    #expect(decoder.keys(in: Array("[201~".utf8)) == [.paste("a")])
  }

  // Their letters must not act: `r` would remove a value.
  @Test(arguments: ["\u{1B}r", "\u{1B}[201~", "\u{1B}[1;5Q", "\u{1B}[31r", "\u{1B}Or"])
  func `the sequence of a different key is dropped as a whole`(_ text: String) {
    #expect(keys(text + "x") == [.character("x")])
  }

  @Test func `bytes that are not UTF-8 are dropped`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: [0xFF, 0xC0, 0x80, 0xE6, 0x28, 0x28, 0x61]).suffix(1) == [.character("a")])
  }
}
