import Testing

/// What `export` says of lines of a dotenv file that other programs do not read as they are meant.
struct DotenvExportTests {
  private static let name = "a shell takes the lines of these keys for commands"
  private static let setting = "programs read the variables of these keys as settings"
  private static let lines = "docker reads each line of these values as a line of the file"
  private static let text = "systemd and other programs ignore these values"
  private static let reference = "run --env-file and import take these values for references or encrypted"

  @Test(
    arguments: [
      ("db.password", Array("x".utf8), name), ("web-token", Array("x".utf8), name), ("web-config", [], name),
      ("NODE_OPTIONS", Array("x".utf8), setting), ("PATH", Array("x".utf8), setting), ("path", [], setting),
      ("bash/env", Array("x".utf8), setting), ("LD_PRELOAD", [], setting),
      ("A", Array("x\nLD_PRELOAD=y".utf8), lines), ("A", [0x0A], lines),
      ("A", [0x61, 0xFF], text), ("A", [0xED, 0xA0, 0x80], text), ("A", [0xEF, 0xBF, 0xBE], text),
      ("A", [0x78, 0xEF, 0xB7, 0x90], text), ("A", [0xF4, 0x8F, 0xBF, 0xBF], text),
      ("A", Array("secret://billing/card".utf8), reference), ("A", Array("SECRET:/x".utf8), reference),
      ("A", Array("{{ secret://billing/card }}".utf8), reference), ("A", Array("x secret://s/k".utf8), reference),
      ("A", Array("op://a/b/c".utf8), reference), ("A", Array("vault:a#b".utf8), reference),
      ("A", Array("ENC[AES256_GCM,x]".utf8), reference),
    ] as [(String, [UInt8], String)])
  func `a key that other programs do not read as it is meant is named, and no other`(
    _ key: String, _ value: [UInt8], _ warning: String
  ) throws {
    let scene = try ExchangeScene()
    try scene.store([key: value, "PLAIN": Array("plain".utf8)], service: "a")
    let outcome = try scene.shell("secretprefs export --service a --to .env")
    #expect(outcome.exit == 0)
    let warnings = outcome.errorText.split(separator: "\n").filter { !$0.contains("exported under another name") }
    #expect(warnings.count == 1, "\(outcome.errorText)")
    #expect(warnings.first?.hasPrefix("secretprefs: warning: \(warning)") == true, "\(outcome.errorText)")
    #expect(warnings.first?.hasSuffix(": \(key)") == true, "\(outcome.errorText)")
  }

  @Test(arguments: ["x y", "#1", "\u{E9}\u{FFFD}\u{E000}", "https://a/b", "op:/x", "vault:8200", "{{ x }}", ""])
  func `a value that all programs read alike is not named`(_ value: String) throws {
    let scene = try ExchangeScene()
    try scene.store(["DB_PASSWORD": Array(value.utf8), "API_KEY": Array(value.utf8)], service: "a")
    let outcome = try scene.shell("secretprefs export --service a")
    #expect(outcome.exit == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
  }

  @Test func `a key that is no variable is one with --variables, and keeps its name without`() throws {
    let scene = try ExchangeScene()
    try scene.store(["db.password": Array("x".utf8), "web-token": Array("y".utf8)], service: "a")
    let variables = try scene.shell("secretprefs export --service a --variables")
    #expect(variables.text == "DB_PASSWORD=x\nWEB_TOKEN=y\n")
    #expect(variables.errorText.isEmpty, "\(variables.errorText)")
    let names = try scene.shell("secretprefs export --service a")
    #expect(names.text == "db.password=x\nweb-token=y\n")
  }

  @Test(arguments: ["", "--json"])
  func `all keys of a warning are named, however many there are`(_ option: String) throws {
    let scene = try ExchangeScene()
    let keys = (0..<50).map { "key-\($0)" } + (0..<50).map { "key/\($0)" }
    try scene.store(Dictionary(uniqueKeysWithValues: keys.map { ($0, Array("a\nb".utf8)) }), service: "a")
    let outcome = try scene.shell("secretprefs export --service a --to .env \(option)")
    #expect(outcome.exit == 0)
    let warnings = outcome.errorText.split(separator: "\n")
    #expect(warnings.count == 3, "\(outcome.errorText)")
    let named = warnings.map { warning in
      Set(warning.split { " ,:\"}".contains($0) }.map(String.init)).intersection(keys).count
    }
    #expect(named.sorted() == [50, 50, 100], "\(outcome.errorText)")
  }
}
