import Testing

/// Values that stand for a different one.
struct ForeignReferenceTests {
  private static func field(_ name: String, _ value: String) -> String {
    "<String><Key>\(name)</Key><Value>\(value)</Value></String>"
  }

  private static func database(_ entries: [(id: String, fields: [(String, String)])]) -> String {
    let entries = entries.map { id, fields in
      "<Entry><UUID>\(id)</UUID>\(fields.map { field($0, $1) }.joined())</Entry>\n"
    }
    return "<KeePassFile><Root><Group><Name>r</Name>\n\(entries.joined())</Group></Root></KeePassFile>"
  }

  private static let ids = ["AAECAwQFBgcICQoLDA0ODw==", "EBESExQVFhcYGRobHB0eHw==", "ICEiIyQlJicoKSorLC0uLw=="]
  private static let first = "000102030405060708090A0B0C0D0E0F"
  private static let second = "101112131415161718191a1b1c1d1e1f"

  private func imported(_ text: String, as format: String) throws -> (keys: [String: String], report: String) {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "plain")
    let outcome = try scene.shell("secretprefs import plain --format \(format)")
    return (try scene.texts(service: "default"), outcome.text + outcome.errorText)
  }

  @Test func `a password in the place of a user name stays a secret`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      Self.database([
        (Self.ids[0], [("Title", "a"), ("UserName", "me"), ("Password", "a long secret")]),
        (Self.ids[1], [("Title", "b"), ("UserName", "{REF:P@I:\(Self.first)}"), ("URL", "{REF:U@I:\(Self.first)}")]),
      ]), to: "plain")
    #expect(try scene.shell("secretprefs import plain --format keepass").exit == 0)
    let listed = try scene.shell("secretprefs list --long").text
    #expect(listed.contains("me") && !listed.contains("a long secret"))
  }

  @Test func `a reference to a field of an entry gets its value, over several steps, before and after it`() throws {
    let (keys, report) = try imported(
      Self.database([
        (Self.ids[0], [("Title", "a"), ("UserName", "{ref:u@i:\(Self.second)}"), ("Password", "one")]),
        (Self.ids[1], [("Title", "b"), ("UserName", "me"), ("Password", "{REF:P@I:\(Self.first)}")]),
        (
          Self.ids[2],
          [("Title", "c"), ("Password", "{REF:P@I:\(Self.second.uppercased())}"), ("x", "{REF:T@I:\(Self.first)}")]
        ),
      ]), as: "keepass")
    #expect(
      keys == [
        "a/username": "me", "a/password": "one", "b/username": "me", "b/password": "one", "c/password": "one",
        "c/x": "a",
      ], "\(report)")
    #expect(!report.contains("not imported"))
  }

  @Test(arguments: [
    "{REF:P@I:FF0102030405060708090A0B0C0D0E0F}", "{REF:P@T:other}", "x{REF:P@I:\(first)}", "{REF:P@I:\(first)}x",
    "{REF:I@I:\(first)}", "{REF:N@I:\(first)}", "{REF:P@I:\(second)}", "{REF:P@I:2}", "{USERNAME}", "{title}",
    "{S:PIN}", "{CMD:/cat x/O=1/}", "a{URL:HOST}", "{T-CONV:/x/Base64/}", "{TOTP}",
  ])
  func `a text that KeePass replaces is left out, with its reason`(_ text: String) throws {
    let (keys, report) = try imported(
      Self.database([
        (Self.ids[0], [("Title", "a"), ("UserName", "u"), ("Password", "one")]),
        (Self.ids[1], [("Title", "b"), ("UserName", "me"), ("Password", text)]),
      ]), as: "keepass")
    #expect(keys == ["a/username": "u", "a/password": "one", "b/username": "me"])
    #expect(report.contains(/not imported: line 3, b\/password: (a reference|KeePass replaces)/), "\(report)")
    #expect(!report.contains(Self.first))
  }

  @Test(arguments: [
    "vault:8200", "vault:", "ref+erence", "ref+", "ref+a:b", "bws:", "opsecret://x", "vault", "{{secret:/a}}",
    "{op://a}", "{{x op://a}}",
  ])
  func `what only begins like a reference is a value`(_ text: String) throws {
    #expect(try imported("a='\(text)'\n", as: "dotenv").keys == ["a": text])
  }

  @Test(arguments: ["{}", "{abc}", "{ENTER}", "{{x}}", "{1}", "{URLS}", "{", "{REF"])
  func `braces alone are a value`(_ text: String) throws {
    let (keys, _) = try imported(Self.database([(Self.ids[0], [("Title", "a"), ("Password", text)])]), as: "keepass")
    #expect(keys == ["a/password": text])
  }

  @Test func `notes may mention placeholders, and references to an id of two entries are left out`() throws {
    let (keys, report) = try imported(
      Self.database([
        (Self.ids[0], [("Title", "a"), ("Password", "one"), ("Notes", "type {USERNAME}")]),
        (Self.ids[0], [("Title", "b"), ("Password", "two")]),
        (Self.ids[1], [("Title", "c"), ("Password", "{REF:P@I:\(Self.first)}")]),
      ]), as: "keepass")
    #expect(keys == ["a/password": "one", "a/notes": "type {USERNAME}", "b/password": "two"])
    #expect(report.contains("not imported: line 4, c/password: a reference"), "\(report)")
  }

  @Test(arguments: [
    ("{REF:P@I:\(first)}", true), ("{ref:u@i:\(first)}", true), ("x{REF:P@I:\(first)}", true), ("{USERNAME}", true),
    ("{password}", true), ("{S:PIN}", true), ("{TOTP}", true), ("{USERNAME}-x", false), ("{}", false),
    ("{REF:P}x", false), ("a{S:PIN}", false), ("{ENTER}", false), ("{", false), ("{USERNAME}}", false),
  ])
  func `what KeePass replaces is left out of other formats, and other braces are a value`(
    _ text: String, _ isReplaced: Bool
  ) throws {
    for (format, file, key) in [
      ("csv", "Group,Title,Username,Password,URL,Notes\n\"Root\",\"b\",\"u\",\"\(text)\",\"\",\"\"\n", "b/password"),
      ("dotenv", "a='\(text)'\nb=1\n", "a"),
    ] {
      let (keys, report) = try imported(file, as: format)
      #expect(keys[key] == (isReplaced ? nil : text), "\(format): \(report)")
      #expect(report.contains(", \(key): a text that KeePass replaces") == isReplaced, "\(format): \(report)")
    }
  }

  @Test(arguments: [
    ("op://vault/item/field", "1Password"), ("pass://a/b/c", "Proton Pass"), ("keeper://a/field/password", "Keeper"),
    ("secret://s/key", "secretprefs"), ("{{ secret://s/key }}", "secretprefs"), ("{{ op://v/i/f }}", "1Password"),
    ("{{secret://s/key}}", "secretprefs"), ("{{op://v/i/f}}", "1Password"), ("{{   pass://a/b/c}}", "Proton Pass"),
    ("ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]", "sops"), ("encrypted:BN4x", "dotenvx"),
    ("vault:secret/data/shop#password", "Vault"), (">>vault:secret/data/shop#password", "Vault"),
    ("vault://secret/shop", "Vault"), ("ref+awsssm://shop/password", "vals"), ("gopass://shop/password", "gopass"),
    ("bws://0001", "Bitwarden"),
  ])
  func `what another program replaces is left out of every format, with its reason`(
    _ text: String, _ program: String
  ) throws {
    for (format, file, key) in [
      ("dotenv", "a='\(text)'\nb=1\n", "a"), ("json", "{\"a\":\"\(text)\",\"b\":\"1\"}", "a"),
      ("csv", "key,value\na,\"\(text)\"\nb,1\n", "a"),
      ("netrc", "machine a password \"\(text)\" login b", "a/password"),
      ("keepass", Self.database([(Self.ids[0], [("Title", "a"), ("Password", text), ("x", "1")])]), "a/password"),
    ] {
      let (keys, report) = try imported(file, as: format)
      #expect(keys.count == 1 && keys[key] == nil, "\(format)")
      #expect(report.contains(", \(key): ") && report.contains(program), "\(format): \(report)")
    }
    let (_, report) = try imported("a='\(text)'\n", as: "dotenv")
    #expect(report.contains("nothing to import") && report.contains("line 1, a: ") && report.contains(program))
  }
  @Test(arguments: [
    (#"["vault:a","b#c"]"#, true), (#"["a",["vault:a#b"]]"#, false), (#"[{"x":"op://v/i/f"}]"#, false),
    (#"[{"op://v/i/f":"x"}]"#, true), (#"["x\"op://v/i/f"]"#, true),
  ])
  func `a list is left out for a text of its own that another program replaces`(_ list: String, _ isUsed: Bool) throws {
    let (keys, report) = try imported(#"{"b":["op://other"],"a":\#(list),"c":"op://other"}"#, as: "json")
    #expect(keys["a"] == (isUsed ? list : nil), "\(report)")
  }
}
