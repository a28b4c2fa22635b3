import Foundation
import Testing

/// The exports of password managers: which fields are kept, and what is named.
struct ManagerImportTests {
  struct CSVSample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String
    let keys: [String: String]
    var left: [String] = []
    var notes: [String] = []
  }

  static let tables = [
    CSVSample(
      testDescription: "LastPass",
      text: "url,username,password,totp,extra,name,grouping,fav\nhttps://x.example,u,p,JBSW,\"two\nlines\",X,A\\B,1\n"
        + "http://sn,,,,NoteType:Server,Note,,0\nhttps://y.example,,q,,,,,0\nhttp://group,,,,,Empty,A,0\n",
      keys: [
        "A/B/X/url": "https://x.example", "A/B/X/username": "u", "A/B/X/password": "p", "A/B/X/totp": "JBSW",
        "A/B/X/notes": "two\nlines", "Note/notes": "NoteType:Server", "y.example/url": "https://y.example",
        "y.example/password": "q",
      ], left: ["line 1, fav: 4 values of a column that is not imported", "line 6, A/Empty: a folder, and no entry"]),
    CSVSample(
      testDescription: "semicolons, and a blank first line", text: "\r\nname;url;password\r\na;https://a,b;\"p;q\"\r\n",
      keys: ["a/url": "https://a,b", "a/password": "p;q"]),
    CSVSample(
      testDescription: "tabs", text: "title\tusername\tpassword\na,b\tu\tp q\n",
      keys: ["a,b/username": "u", "a,b/password": "p q"]),
    CSVSample(
      testDescription: "sep=", text: "sep=;\nname;password;a,b,c,d\na;p;x\n",
      keys: ["a/password": "p", "a/a,b,c,d": "x"]),
    CSVSample(
      testDescription: "columns that are not known",
      text: "name,password,PIN,Empty,title\na,p,1234,,T\nb,q,,,\n",
      keys: ["a/password": "p", "a/PIN": "1234", "a/title": "T", "b/password": "q"]),
    CSVSample(
      testDescription: "Dashlane",
      text: "username,username2,username3,title,password,note,url,category,otpSecret\n"
        + "u,v,,T,p,n,https://t,C,JBSW\n",
      keys: [
        "C/T/username": "u", "C/T/username2": "v", "C/T/password": "p", "C/T/notes": "n", "C/T/url": "https://t",
        "C/T/totp": "JBSW",
      ]),
    CSVSample(
      testDescription: "KeePass 2",
      text: "\"Account\",\"Login Name\",\"Password\",\"Web Site\",\"Comments\"\n"
        + "\"a\",\"u\",\"p\",\"https://a\",\"n\"\n\"b\",\"u\",\"C:\\\\p\\\"q\",\"\",\"x\\\\\"\n",
      keys: [
        "a/username": "u", "a/password": "p", "a/url": "https://a", "a/notes": "n", "b/username": "u",
        "b/password": "C:\\p\"q", "b/notes": "x\\",
      ]),
    CSVSample(
      testDescription: "RoboForm",
      text: "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\n"
        + "A,https://a,https://a,me@x,pw,n,/F,\"User ID$,,,txt,me@x\",\"Password$,,,pwd,pw\",\"PIN, new$,,,txt,1,2\"\n"
        + "B,https://b,https://m,,'@w,,,\"TOTP KEY$,,,txt,JBSW\",\"$,,,txt,x\",\"PIN$,,,txt,\"\nC,,,,q,,,odd\nD,,,,r,,,\n",
      keys: [
        "F/A/url": "https://a", "F/A/username": "me@x", "F/A/password": "pw", "F/A/notes": "n", "F/A/PIN, new": "1,2",
        "B/url": "https://b", "B/MatchUrl": "https://m", "B/password": "'@w", "B/totp": "JBSW", "B/field": "x",
        "C/password": "q", "C/RfFieldsV2": "odd", "D/password": "r",
      ], notes: ["line 3, B/password: RoboForm writes an apostrophe"]),
    CSVSample(
      testDescription: "a title of blanks", text: "name,url,username,password\n ,https://ex.com/,bob,p\n",
      keys: ["ex.com/url": "https://ex.com/", "ex.com/username": "bob", "ex.com/password": "p"]),
    CSVSample(
      testDescription: "Bitwarden",
      text: "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,"
        + "login_password,login_totp\nF,,login,a,n,\"PIN: 1\",0,https://a,u,p,\n",
      keys: [
        "F/a/notes": "n", "F/a/fields": "PIN: 1", "F/a/url": "https://a", "F/a/username": "u", "F/a/password": "p",
      ], left: ["type: 1 value", "reprompt: 1 value"]),
    CSVSample(
      testDescription: "a table with more columns", text: "key,value,color\na,1,red\nb,2,\n",
      keys: ["a": "1", "b": "2"],
      left: ["line 1, color: 1 value of a column that is not imported"]),
  ]

  @Test(arguments: tables) func `a table keeps its values, and names those that it leaves out`(_ sample: CSVSample)
    throws
  {
    let scene = try ExchangeScene()
    try scene.home.write(sample.text, to: "t.csv")
    let outcome = try scene.shell("secretprefs import t.csv")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == sample.keys)
    #expect(outcome.text.matches(of: /\nnot imported/).count == sample.left.count, "\(outcome.text)")
    #expect(outcome.text.matches(of: /\nnote/).count == sample.notes.count, "\(outcome.text)")
    for part in sample.left + sample.notes { #expect(outcome.text.contains(part), "\(outcome.text)") }
  }

  @Test(arguments: ["Name,Url,Login,Pwd,RfFieldsV2\na,,,p\n", "Name,Url,RfFieldsV2,Login,Pwd\na,,,u,p,x\n"])
  func `only rows that end with fields of RoboForm may be longer than the header`(_ text: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "t.csv")
    #expect(try scene.shell("secretprefs import t.csv").exit == 65)
  }

  @Test func `items of Bitwarden keep the fields of every type, and their collections`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      """
      {"encrypted": false, "collections": [{"id": "c", "organizationId": "o", "name": "Team/X", "externalId": null},
        {"id": "d", "organizationId": "o", "name": "Y"}], "items": [
        {"id": "1", "organizationId": "o", "type": 99, "name": "odd", "favorite": true, "collectionIds": ["c", "d"],
         "bankAccount": {"iban": "DE", "pin": 12, "open": true, "more": {"a": "b"}}, "secretWord": "w"},
        {"id": "2", "type": 1, "name": null, "collectionIds": [], "login": {"uris": [{"uri": "https://h.example:1/x"}],
         "password": "p"}},
        {"id": "3", "type": 1, "name": "linked", "login": {"password": "q"}, "attachments": [{"fileName": "f"}],
         "fields": [{"name": "L", "value": null, "type": 3, "linkedId": 100}]}
      ]}
      """, to: "b.json")
    let outcome = try scene.shell("secretprefs import b.json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == [
        "Team/X/odd/iban": "DE", "Team/X/odd/pin": "12", "Team/X/odd/open": "true",
        "Team/X/odd/bankAccount.more.a": "b",
        "Team/X/odd/secretWord": "w", "h.example:1/url": "https://h.example:1/x", "h.example:1/password": "p",
        "linked/password": "q",
      ])
    for left in [
      "Team/X/odd: the same item in the collection Y", "linked/L: a field that shows", "linked: an attachment",
    ] { #expect(outcome.text.contains(left), "\(outcome.text)") }
  }

  private static func database(_ fields: [(String, String)]) -> String {
    "<KeePassFile><Root><Group><Name>r</Name><Entry>"
      + fields.map { "<String><Key>\($0)</Key><Value>\($1)</Value></String>" }.joined()
      + "</Entry></Group></Root></KeePassFile>"
  }

  /// `12345678901234567890` in base32, hexadecimal digits and Base64: the secret of RFC 6238.
  private static let base32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let hex = "3132333435363738393031323334353637383930"

  @Test(arguments: [
    ([("TimeOtp-Secret-Base32", base32)], "totp", "totp/?secret=\(base32)"),
    (
      [
        ("TimeOtp-Secret-Hex", hex), ("TimeOtp-Period", "60"), ("TimeOtp-Length", "8"),
        ("TimeOtp-Algorithm", "HMAC-SHA-256"),
      ],
      "totp", "totp/?secret=\(base32)&digits=8&period=60&algorithm=SHA256"
    ),
    ([("TimeOtp-Secret", "12345678901234567890")], "totp", "totp/?secret=\(base32)"),
    ([("TimeOtp-Secret-Base64", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=")], "totp", "totp/?secret=\(base32)"),
    ([("HmacOtp-Secret-Base32", base32), ("HmacOtp-Counter", "7")], "hotp", "hotp/?secret=\(base32)&counter=7"),
    ([("TOTP Seed", base32), ("TOTP Settings", "60;8")], "totp", "totp/?secret=\(base32)&period=60&digits=8"),
    ([("TOTP Seed", base32)], "totp", "totp/?secret=\(base32)&period=30&digits=6"),
    (
      [("TOTP Seed", base32), ("TOTP Settings", "30;S")], "totp",
      "totp/?secret=\(base32)&period=30&digits=5&encoder=steam"
    ),
  ])
  func `the fields of one-time codes become one value, which makes codes`(
    _ fields: [(String, String)], _ key: String, _ uri: String
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.database([("Title", "a"), ("Password", "p")] + fields), to: "k.xml")
    let outcome = try scene.shell("secretprefs import k.xml && secretprefs otp a/\(key)")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    var expected = uri
    // The code has raised the counter.
    if key == "hotp" { expected = expected.replacing("counter=7", with: "counter=8") }
    #expect(try scene.texts(service: "default") == ["a/password": "p", "a/\(key)": "otpauth://\(expected)"])
  }

  @Test(arguments: [
    [("TimeOtp-Secret-Hex", "3x")], [("TOTP Seed", "A"), ("TOTP Settings", "odd")], [("TimeOtp-Period", "30")],
    [("TimeOtp-Secret-Base32", base32), ("TimeOtp-Algorithm", "HMAC-MD5")],
  ])
  func `fields of codes that are not understood stay as they are`(_ fields: [(String, String)]) throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.database([("Title", "a")] + fields), to: "k.xml")
    #expect(try scene.shell("secretprefs import k.xml").exit == 0)
    #expect(
      try scene.texts(service: "default")
        == Dictionary(uniqueKeysWithValues: fields.map { ("a/\($0)", $1) }))
  }

  /// A message with the accounts of Google Authenticator, as a URI.
  private static func migration(_ accounts: [[UInt8]], code: UInt8 = 0, of codes: UInt8 = 1) -> String {
    var data: [UInt8] = []
    for account in accounts { data += [0x0A, UInt8(account.count)] + account }
    data += [0x10, 1, 0x18, codes, 0x20, code, 0x28, 0x80, 0x80, 0x01]
    return "otpauth-migration://offline?data="
      + Data(data).base64EncodedString().replacing("+", with: "%2B").replacing("=", with: "%3d")
  }

  private static func account(_ name: String, _ issuer: String, _ rest: [UInt8]) -> [UInt8] {
    let secret = Array("12345678901234567890".utf8)
    return [0x0A, UInt8(secret.count)] + secret + [0x12, UInt8(name.utf8.count)] + Array(name.utf8)
      + [0x1A, UInt8(issuer.utf8.count)] + Array(issuer.utf8) + rest
  }

  @Test func `the accounts of authenticators each get a key, which makes codes`() throws {
    let scene = try ExchangeScene()
    let migration = Self.migration([
      Self.account("Shop:me@a", "Shop", [0x20, 1, 0x28, 1, 0x30, 2]),
      Self.account("x", "", [0x20, 2, 0x28, 2, 0x30, 1, 0x38, 7]),
      Self.account("odd", "", [0x20, 4, 0x30, 2]),
    ])
    try scene.home.write(
      "# c\nQR-Code:otpauth://totp/Mail:me%40b?secret=\(Self.base32)&issuer=Mail\n\(migration)\r\nother\n"
        + "otpauth-migration://offline?data=CgA\n", to: "codes.txt")
    let bad = try scene.shell("secretprefs import codes.txt --format otpauth")
    #expect(bad.exit == 65)
    for part in ["line 3, odd: an account of a kind", "line 4: no otpauth URI", "line 5: an account"] {
      #expect(bad.errorText.contains("\n  \(part)"), "\(bad.errorText)")
    }
    let outcome = try scene.shell(
      """
      secretprefs import codes.txt --format otpauth --skip && secretprefs otp Mail/me@b/totp &&
      secretprefs otp Shop/me@a/totp && secretprefs otp x/hotp
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      try scene.texts(service: "default") == [
        "Mail/me@b/totp": "otpauth://totp/Mail:me%40b?secret=\(Self.base32)&issuer=Mail",
        "Shop/me@a/totp": "otpauth://totp/Shop:me@a?secret=\(Self.base32)&issuer=Shop&algorithm=SHA1&digits=6",
        "x/hotp": "otpauth://hotp/x?secret=\(Self.base32)&algorithm=SHA256&digits=8&counter=8",
      ])
  }

  @Test(arguments: [([0], "1 of the 3 QR codes"), ([2, 0, 2], "2 of the 3 QR codes"), ([1, 2, 0], nil)])
  func `QR codes of an export that are missing are named`(codes: [UInt8], note: String?) throws {
    let scene = try ExchangeScene()
    let lines = codes.map { Self.migration([Self.account("a\($0)", "", [0x30, 2])], code: $0, of: 3) }
    try scene.home.write(lines.joined(separator: "\n"), to: "codes.txt")
    let outcome = try scene.shell("secretprefs import codes.txt --format otpauth --on-conflict replace")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect((outcome.text + outcome.errorText).contains("QR codes") == (note != nil))
    if let note { #expect((outcome.text + outcome.errorText).contains(note)) }
  }

  @Test(arguments: [
    "otpauth://totp/a?issuer=x", "otpauth://totp/a?secret=0189", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&digits=99",
    "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=0", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=MD5",
    "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP", "otpauth://steam/a?secret=JBSWY3DPEHPK3PXP&digits=11",
  ])
  func `an account of which no codes can be made is refused, as by otp`(uri: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(uri + "\n", to: "codes.txt")
    let imported = try scene.shell("secretprefs import codes.txt --format otpauth")
    #expect(imported.exit == 65)
    let code = try scene.shell("secretprefs set code < codes.txt && secretprefs otp code")
    let line = try #require(imported.errorText.split(separator: "\n").first)
    let reason = try #require(line.split(separator: "line 1: ").last)
    #expect(code.errorText.contains(reason), "\(imported.errorText)\(code.errorText)")
  }

  @Test func `an account of Steam gets a key, which makes codes`() throws {
    let scene = try ExchangeScene()
    let uri = "otpauth://steam/Steam%3Ame?secret=\(Self.base32)&issuer=Steam&digits=5&period=30"
    try scene.home.write(uri + "\n", to: "codes.txt")
    let outcome = try scene.shell("secretprefs import codes.txt --format otpauth && secretprefs otp Steam/me/totp")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == ["Steam/me/totp": uri])
  }

  @Test func `a question mark in a parameter belongs to it`() throws {
    let scene = try ExchangeScene()
    let uri = "otpauth://totp/me?image=https://shop.example/?size=1&issuer=Shop&secret=\(Self.base32)"
    try scene.home.write(uri + "\n", to: "codes.txt")
    let outcome = try scene.shell("secretprefs import codes.txt --format otpauth && secretprefs otp Shop/me/totp")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }

  @Test(arguments: ["", "?data=", "?data=CgUx", "?data=////", "?data=%4", "?x=1"])
  func `a migration that cannot be read is bad`(_ text: String) throws {
    let outcome = try ExchangeScene().shell(
      "echo 'otpauth-migration://offline\(text)' | secretprefs import - --format otpauth")
    #expect(outcome.exit == 65, "\(outcome.errorText)")
  }

  @Test func `an entry with neither a name nor a URL is kept, with a note`() throws {
    for (name, text, key) in [
      ("t.csv", "name,password,group\n,p,r/G\n", "r/G/untitled/password"),
      ("k.xml", Self.database([("Password", "p")]), "untitled/password"),
      ("b.json", #"{"encrypted":false,"items":[{"login":{"password":"p"}}]}"#, "untitled/password"),
    ] {
      let scene = try ExchangeScene()
      try scene.home.write(text, to: name)
      let outcome = try scene.shell("secretprefs import \(name)")
      #expect(try scene.texts(service: "default") == [key: "p"], "\(outcome.errorText)")
      #expect(outcome.text.contains("note: line"), "\(outcome.text)")
    }
  }

  @Test func `a title keeps its name without the slashes at its end, and blanks are none`() throws {
    let url = "https://h.example/"
    let keepass = Self.database([("Title", url), ("Password", "p")]).dropLast("</Group></Root></KeePassFile>".count)
    for (name, text) in [
      ("t.csv", "name,url,password\n\(url),,p\n /,\(url),q\n"),
      (
        "k.xml",
        "\(keepass)<Entry><String><Key>Title</Key><Value> /</Value></String><String><Key>URL</Key><Value>\(url)</Value>"
          + "</String><String><Key>Password</Key><Value>q</Value></String></Entry></Group></Root></KeePassFile>"
      ),
      (
        "b.json",
        "{\"encrypted\":false,\"items\":[{\"name\":\"\(url)\",\"login\":{\"password\":\"p\"}},"
          + "{\"name\":\" /\",\"login\":{\"password\":\"q\",\"uris\":[{\"uri\":\"\(url)\"}]}}]}"
      ),
    ] {
      let scene = try ExchangeScene()
      try scene.home.write(text, to: name)
      let outcome = try scene.shell("secretprefs import \(name)")
      #expect(
        try scene.texts(service: "default") == [
          "https://h.example/password": "p", "h.example/password": "q", "h.example/url": url,
        ], "\(outcome.errorText)")
      #expect(!outcome.text.contains("note: "), "\(outcome.text)")
    }
  }

  @Test func `an entry without a title is named by its URL`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.database([("URL", "https://u@h.example/x"), ("Password", "p")]), to: "k.xml")
    #expect(try scene.shell("secretprefs import k.xml").exit == 0)
    #expect(
      try scene.texts(service: "default") == ["h.example/url": "https://u@h.example/x", "h.example/password": "p"])
  }
}
