import Testing
import VaultCore

@testable import secretprefs

/// Which addresses of an import are taken for secrets, and what becomes of the mark of keys that are imported again.
struct SecretMarkTests {
  @Test(arguments: [
    "alice", "alice@example.com", "https://shop.example/", "https://shop.example:8443/login/start",
    "db.example/billing",
    "https://0123456789-a-long-name-of-a-host.eu-west-1.example/", "https://shop.example/orders/1234567890123456789",
    "https://shop.example/a-page-about-shopping", "0123456789abcdefABCDEF",
  ])
  func `an address without a part that may be a token is shown`(_ text: String) {
    #expect(!SecretMark.mayBeSecret(text.utf8))
  }

  @Test(arguments: [
    "https://u:p@shop.example/", "https://shop.example/?token=x", "https://shop.example/#x",
    // As services make them for webhooks: letters and digits, an identifier, base64 for URLs, letters alone.
    "https://hooks.example/services/T024BE7LD/B024BE7LE/aB3dE5gH7jK9mN1pQ3sT5vW7",
    "https://hooks.example/b/3f2504e0-4f89-11d3-9a0c-0305e82c3301/x", "https://hooks.example/w/12/x_Y-z_W-v_U-t_S-r_Q",
    "hooks.example/abcdefghABCDEFGH", "https://hooks.example/bot0123456789abcdef",
  ])
  func `an address that may have a token is a secret`(_ text: String) { #expect(SecretMark.mayBeSecret(text.utf8)) }

  private static func keepass(_ mark: String, _ value: String) -> String {
    "<KeePassFile><Root><Group><Name>r</Name><Entry><String><Key>Title</Key><Value>a</Value></String><String>"
      + "<Key>UserName</Key><Value\(mark)>\(value)</Value></String></Entry></Group></Root></KeePassFile>"
  }

  /// Files whose key is first no secret, and then one.
  private static let pairs: [(name: String, key: String, texts: [String])] = [
    (
      "t.csv", "a/url",
      ["https://a.example/", "https://al:hunter2hunter2@a.example/"].map { "name,url,password\na,\($0),\n" }
    ),
    ("k.xml", "a/username", [keepass("", "alice"), keepass(" ProtectInMemory=\"True\"", "hunter2hunter2")]),
    (
      "b.json", "a/url",
      ["https://a.example/", "https://al:hunter2hunter2@a.example/"].map {
        "{\"encrypted\":false,\"items\":[{\"name\":\"a\",\"login\":{\"uris\":[{\"uri\":\"\($0)\"}]}}]}"
      }
    ),
  ]

  @Test(arguments: pairs)
  func `a new value that the importer takes for a secret loses the mark, and nothing else`(
    _ name: String, _ key: String, _ texts: [String]
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(texts[0], to: name)
    let first = try scene.shell(
      "secretprefs import \(name) && secretprefs edit \(key) --attribute x=y; secretprefs list --long --json")
    #expect(first.text.contains("a.example") || first.text.contains("alice"), "\(first.text)\(first.errorText)")
    try scene.home.write(texts[1], to: name)
    let outcome = try scene.shell("secretprefs import \(name) --on-conflict replace; secretprefs list --long --json")
    #expect(!outcome.text.contains("hunter2"), "\(outcome.text)\(outcome.errorText)")
    #expect(!outcome.text.contains("note: "), "\(outcome.text)")
    let record = try #require(try scene.vault.record(service: try Vault.Name("default"), key: key, in: scene.group))
    #expect(record.attributes.map(\.name.text) == ["x"])
    #expect(try scene.texts(service: "default")[key]?.contains("hunter2") == true)
  }

  @Test(arguments: pairs)
  func `a key that is a secret stays one, whatever the importer takes a new value for`(
    _ name: String, _ key: String, _ texts: [String]
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(texts[0], to: name)
    let outcome = try scene.shell(
      """
      printf 'a person has chosen' | secretprefs set \(key)
      secretprefs import \(name) --on-conflict replace && secretprefs list --long --json
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let record = try #require(try scene.vault.record(service: try Vault.Name("default"), key: key, in: scene.group))
    #expect(record.isSecret && record.revision > 1)
  }

  @Test(arguments: [
    ("c.json", #"{"port":"2"}"#, "port"), (".env", "port=2\n", "port"), ("t.csv", "key,value\nport,2\n", "port"),
    ("u.csv", "name,PIN,password\na,2,\n", "a/PIN"),
  ])
  func `a value of which the file says nothing keeps the mark, with a note`(
    _ name: String, _ text: String, _ key: String
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: name)
    let outcome = try scene.shell(
      "printf 1 | secretprefs set \(key) --not-secret && secretprefs import \(name) --on-conflict replace")
    #expect(outcome.text.contains("\(key): it keeps its attribute secret=no"), "\(outcome.text)\(outcome.errorText)")
    let record = try #require(try scene.vault.record(service: try Vault.Name("default"), key: key, in: scene.group))
    #expect(!record.isSecret)
  }

  @Test func `a key without the mark has no note, nor has one that keeps its value`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("port=2\npin=3\n", to: ".env")
    let outcome = try scene.shell(
      """
      printf 1 | secretprefs set pin && secretprefs import .env --on-conflict replace
      secretprefs edit port --not-secret && secretprefs import .env --on-conflict skip
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(!outcome.text.contains("secret=no"), "\(outcome.text)")
  }
}
