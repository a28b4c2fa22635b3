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
        not imported: empty: the entry is empty

        """)
    #expect(
      try scene.texts(service: "default") == [
        "plain/password": "p w",
        "web/ma il/password": "a:b\\n", "web/ma il/username": "me", "web/ma il/url": "https://a.example",
        "web/ma il/notes": "\n-----BEGIN X-----\nProc-Type: 4\n-----END X-----\n",
        "web/ä/totp": "otpauth://totp/x?secret=AAAA", "web/ä/username": "u", "web/ä/notes": "last",
      ])
  }

  @Test func `a carriage return at the end of a line is not a part of the field`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run("secretprefs import store", ["a": "p w\r\nUser: u\r\nnote\r\n"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == ["a/password": "p w", "a/username": "u", "a/notes": "note"])
  }

  @Test func `a key behind its passphrase keeps the line end that programs need`() throws {
    let scene = try ExchangeScene()
    let key = try scene.shell("ssh-keygen -q -t ed25519 -N '' -f sk && cat sk").text
    let outcome = try Self.run(
      """
      secretprefs import store && for name in a b c; do
        secretprefs run --file "K=$name/notes" -- sh -c 'ssh-keygen -y -f "$K"' || exit 96
      done
      """,
      ["a": "pw\n" + key, "b": "pw\nlogin: u\n" + key, "c": "otpauth://totp/x?secret=AAAA\n" + key], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.split(separator: "ssh-ed25519 ").count == 4, "\(outcome.text)")
  }

  @Test func `a pipe in the store is named`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run("mkfifo store/pipe.gpg && secretprefs import store --skip pipe", ["a": "b"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains("not imported: pipe: it cannot be read"), "\(outcome.text)")
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

  @Test func `entries that cannot be decrypted are all named, and can be left out`() throws {
    let scene = try ExchangeScene()
    let before = try scene.file
    let outcome = try Self.run(
      """
      echo x > store/z.gpg; echo y > store/y.gpg; ln -s missing store/x.gpg; echo n > store/notes.txt
      secretprefs import store || echo $?; cp v.spv before
      secretprefs import store --skip y,z || echo $?; secretprefs import store --skip x,y,z
      """, ["a": "b"], in: scene)
    #expect(outcome.exit == 0)
    #expect(try Data(contentsOf: URL(filePath: scene.home.file("before"))) == before)
    for (name, reason) in [("x", "it cannot be read"), ("y", "gpg cannot"), ("z", "gpg cannot")] {
      #expect(outcome.errorText.contains("\n  \(name): \(reason)"), "\(outcome.errorText)")
      #expect(outcome.text.contains("not imported: \(name): \(reason)"), "\(outcome.text)")
    }
    #expect(outcome.errorText.contains("--skip x,y,z leaves them out"))
    #expect(outcome.errorText.contains("store: x: it cannot be read"), "\(outcome.errorText)")
    #expect(outcome.text.hasPrefix("65\n65\n1 key imported\n"), "\(outcome.text)")
    #expect(outcome.text.contains("not imported: notes.txt: no entry of pass"))
    #expect(try scene.texts(service: "default") == ["a/password": "b"])
  }

  @Test func `an entry with a number as its name can be left out by it`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      """
      echo x > store/7.gpg; echo y > store/2024-01.gpg; secretprefs import store || echo $?
      secretprefs import store --skip 7,2024-01
      """, ["a": "b"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.errorText.contains("--skip 2024-01,7 leaves them out"), "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == ["a/password": "b"])
  }

  @Test func `links are followed as pass follows them, and a directory inside itself is named`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      """
      ln -s a.gpg store/b.gpg; ln -s web store/copy; ln -s .. store/web/loop; pass show copy/c >> log || exit 96
      secretprefs import store --skip copy/loop,web/loop
      """, ["a": "one", "web/c": "two"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == [
        "a/password": "one", "b/password": "one", "web/c/password": "two", "copy/c/password": "two",
      ])
    #expect(outcome.text.contains("not imported: web/loop: it cannot be read"), "\(outcome.text)")
  }

  @Test func `private keys go through pass and an import byte for byte`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      """
      ssh-keygen -q -t ed25519 -N '' -C me -f id && openssl genpkey -quiet -algorithm ed25519 -out pem 2>> log || exit 95
      printf '{\n "type": "service_account"\n}\n' > json; printf '[Interface]\nPrivateKey = x\n' > wg.conf
      for file in id pem json wg.conf; do pass insert -m "$file" < "$file" >> log || exit 94; done
      secretprefs import store || exit 93
      for file in id pem json wg.conf; do secretprefs get "$file/content" > out && cmp "$file" out || exit 92; done
      secretprefs get id/content > key; chmod 600 key; ssh-keygen -y -f key > public && secretprefs get pem/content |
        openssl pkey -noout
      """, ["x": "y"], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }

  /// Files that stay whole, and entries that only begin like one.
  static let contents: [(text: String, isWhole: Bool)] = [
    ("{\"a\":1}", true), ("{\"a\":1}\n", true), ("[\"x\"]\n", true), ("{}\n", false), ("[]\n", false),
    ("{abc\n", false), ("{\"a\":1}\nurl: x\n", false), ("[x]\n", false), ("[x=1]\n", false), ("[x]\ny\n", false),
    ("<settings xmlns=\"u\">\n <s a=\"b>c\">x &amp; y</s>\n</settings>\n", true), ("<a>x</a>", true), ("<pw>\n", false),
    ("<pw/>\n", false), ("<pw>\n</other>\n", false), ("<a>x</a>\nurl: y\n", false), ("<!DOCTYPE x>\n<x/>\n", true),
    ("# c\n[default]\nkey = x\n", true), ("; c\n\n# d\n[default]\nkey=x\n", true), ("#pw\nurl: x\n", false),
    ("# c\nx\n[default]\nkey=x\n", false), ("\n[default]\nkey=x\n", false),
    ("\u{FEFF}-----BEGIN X-----\nx\n-----END X-----\n", true), ("\u{FEFF}{\"a\":1}\n", true),
    ("\u{FEFF}pw\nx\n", false),
    ("Bag Attributes\n    a: b\n-----BEGIN X-----\nx\n-----END X-----\n", true), ("Bag Attributes\nx\n", false),
  ]

  @Test func `files of any form go through pass and an import byte for byte`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      """
      openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout key.pem -out cert.pem 2>> log || exit 95
      openssl pkcs12 -export -inkey key.pem -in cert.pem -name me -passout pass: -out x.p12 2>> log || exit 94
      openssl pkcs12 -in x.p12 -nodes -passin pass: -out bag 2>> log && grep -q '^Bag Attributes' bag || exit 93
      openssl x509 -in cert.pem -text -out shown && openssl pkey -in key.pem -text -out keytext 2>> log || exit 92
      for file in bag shown keytext; do pass insert -m "$file" < "$file" >> log || exit 91; done
      secretprefs import store || exit 90
      for file in bag shown keytext; do secretprefs get "$file/content" > out && cmp "$file" out || exit 89; done
      """,
      Dictionary(uniqueKeysWithValues: Self.contents.enumerated().map { ("n\($0)", $1.text) }), in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let keys = try scene.texts(service: "default")
    for (index, (text, isWhole)) in Self.contents.enumerated() {
      #expect(keys["n\(index)/content"] == (isWhole ? text : nil), "\(text)")
    }
  }

  @Test func `an entry of codes alone is no password`() throws {
    let scene = try ExchangeScene()
    let outcome = try Self.run(
      "secretprefs import store && secretprefs otp q/totp",
      [
        "q": "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP\n", "h": "otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1",
        "p": "otpauth://totp/x?secret=AAAA\r\nlogin: me\n", "w": "pw\notpauth://hotp/x?secret=AAAA&counter=1\n",
      ], in: scene)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == [
        "q/totp": "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP",
        "h/hotp": "otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1", "p/totp": "otpauth://totp/x?secret=AAAA",
        "p/username": "me", "w/password": "pw", "w/hotp": "otpauth://hotp/x?secret=AAAA&counter=1",
      ])
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
