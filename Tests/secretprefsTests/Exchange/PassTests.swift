import Foundation
import Testing

private let hasPass = (try? Tool.shell("pass --version && gpg --version", in: try Scratch()).exit) == 0

/// Password stores that pass itself has made.
@Suite(.enabled(if: hasPass)) struct PassTests {}

extension PassTests {
  /// Runs `line` with a store that has `entries`, by name, and a key without a passphrase.
  private static func run(_ line: String, _ entries: [String: String], in scene: ExchangeScene) throws -> Tool.Outcome {
    for (index, entry) in entries.enumerated() {
      try scene.home.write(entry.value, to: "text\(index)")
      try scene.home.write(entry.key, to: "name\(index)")
    }
    // The path of the agent's socket has a limit of about 100 bytes.
    return try scene.shell(
      """
      export GNUPGHOME=$(mktemp -d /tmp/pass.XXXXXX) PASSWORD_STORE_DIR=$PWD/store
      trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
      gpg --batch --quiet --passphrase '' --quick-generate-key scene default default never 2> log || exit 99
      pass init scene >> log 2>&1 || exit 98
      for text in text*; do pass insert -m "$(cat "name${text#text}")" < "$text" >> log 2>&1 || exit 97; done
      \(line)
      """)
  }

  @Test func `a password store is imported whole, and its text becomes fields`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      "mv store störe && secretprefs import störe",
      [
        "plain": "p w",
        "web/ma il": "a:b\\n\nLogin: me\nurl:\thttps://a.example\n\n-----BEGIN X-----\nProc-Type: 4\n-----END X-----\n",
        "web/ä": "\n\notpauth://totp/x?secret=AAAA\nUser: u\nlast\n",
        "empty": "\n",
      ], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      outcome.text == """
        8 keys imported
        "secretprefs history undo 2" undoes the import
        not imported: line 1, empty: the entry is empty

        """)
    #expect(
      try scene.texts(service: "default") == [
        "plain/password": "p w",
        "web/ma il/password": "a:b\\n", "web/ma il/username": "me", "web/ma il/url": "https://a.example",
        "web/ma il/notes": "\n-----BEGIN X-----\nProc-Type: 4\n-----END X-----",
        "web/ä/totp": "otpauth://totp/x?secret=AAAA", "web/ä/username": "u", "web/ä/notes": "last",
      ])
  }

  @Test func `a carriage return at the end of a line is not a part of the field`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run("secretprefs import store", ["a": "p w\r\nUser: u\r\nnote\r\n"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == ["a/password": "p w", "a/username": "u", "a/notes": "note\r"])
  }

  @Test func `an entry that is no text becomes data`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      "printf 'a\\n\\377url: x\\n\\000' | pass insert -m key.bin >> log && secretprefs import store", ["a": "b"],
      in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.values(service: "default") == [
        "a/password": Array("b".utf8),
        "key.bin/content": Array("a\n".utf8) + [0xFF] + Array("url: x\n\0".utf8),
      ])
  }

  @Test func `nothing is imported if one entry cannot be decrypted`() throws {
    let scene = try ExchangeScene()
    let before = try scene.file
    let outcome = try Self.run("echo x > store/z.gpg; secretprefs import store", ["a": "b"], in: scene)
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("store/z.gpg: gpg cannot decrypt the entry"), "\(outcome.errorText)")
    #expect(outcome.output.isEmpty)
    #expect(try scene.file == before)
  }

  @Test func `a directory is no file of another format, and a file is no password store`() throws {
    let scene = try ExchangeScene()
    let directory = try scene.shell("mkdir store; secretprefs import store --format csv")
    #expect(directory.exit == 64)
    #expect(directory.errorText.contains("a directory is not a file"))
    let file = try scene.shell("echo a > file; secretprefs import file --format pass")
    #expect(file.exit == 64)
    #expect(file.errorText.contains("file: not a directory"))
    let empty = try scene.shell("secretprefs import store")
    #expect(empty.errorText.contains("there is nothing to import"), "\(empty.errorText)")
  }
}
