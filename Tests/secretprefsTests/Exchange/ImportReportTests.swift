import Foundation
import Testing

/// What an import says about the parts of a file that it leaves out.
struct ImportReportTests {
  private static let table = "key,value\na,1\nb\nc,3\n\"d\u{1}\",4\ne,\"5\"x\nf,6\n"

  private func parts(_ outcome: Tool.Outcome) throws -> [[String: Any]] {
    let line = try #require(outcome.errorText.split(separator: "\n").first { $0.hasPrefix("{\"error\"") })
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String: Any]]
    return try #require(object?["error"]?["parts"] as? [[String: Any]])
  }

  @Test func `all bad lines are named at once, and nothing is imported`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.table, to: "t.csv")
    let before = try scene.file
    for option in ["", "--dry-run"] {
      let outcome = try scene.shell("secretprefs import t.csv \(option)")
      #expect(outcome.exit == 65)
      #expect(
        outcome.errorText == """
          secretprefs: error: t.csv: 3 parts are bad; nothing was imported
            line 3: 1 field, and the header has 2
            line 5, d\\u{1}: not a key: a key has 1 to 1024 bytes and no control characters
            line 6: text behind a quoted field
          secretprefs: hint: --skip 3,5,6 leaves them out

          """)
    }
    let json = try scene.shell("secretprefs import t.csv --json")
    #expect(try parts(json).map { $0["line"] as? Int } == [3, 5, 6])
    #expect(try scene.file == before)
  }

  @Test func `a dry run shows the lengths of what is stored`() throws {
    let scene = try ExchangeScene()
    func field(_ name: String, _ value: String) -> String {
      "<String><Key>\(name)</Key><Value>\(value)</Value></String>"
    }
    let entries = [
      [field("TOTP Seed", "GEZDGNBVGY3TQOJQ"), field("TOTP Settings", "60;8")], [field("TimeOtp-Secret", "1234567")],
      [field("TimeOtp-Secret-Hex", "3132333435"), field("TimeOtp-Length", "8")],
    ]
    let xml = entries.map { "<Entry>\(field("Title", "a"))\($0.joined())</Entry>" }.joined()
    for (name, text) in [
      ("k.xml", "<KeePassFile><Root><Group><Name>r</Name>\(xml)</Group></Root></KeePassFile>"),
      ("c.txt", "otpauth-migration://offline?data=ChYKBTEyMzQ1EgFhGgRTaG9wIAEoATACEAEYASAA\n"),
      ("n.json", #"{"number":5,"flag":true,"list":[1, 2],"text":"\u00e9","big":12345678901234567890123,"half":0.5}"#),
    ] {
      try scene.home.write(text, to: name)
      let format = name == "c.txt" ? "--format otpauth" : ""
      let dry = try scene.shell("secretprefs import \(name) \(format) --dry-run --json")
      let report = try JSONSerialization.jsonObject(with: Data(dry.text.utf8)) as? [String: Any]
      let keys = try #require(report?["keys"] as? [[String: Any]], "\(dry.errorText)")
      let lengths = Dictionary(uniqueKeysWithValues: keys.map { ($0["key"] as? String, $0["bytes"] as? Int) })
      #expect(try scene.shell("secretprefs import \(name) \(format) --service '\(name)'").exit == 0)
      let stored = try scene.values(service: name)
      #expect(!stored.isEmpty && stored.count == lengths.count)
      for (key, value) in stored { #expect(lengths[key] == value.count, "\(key)") }
    }
  }

  @Test(arguments: ["--skip 3,5,6", "--skip 3-6", "--skip", "--skip all", "--skip @list", "--skip=' 5 , 3-3,6'"])
  func `bad lines of a list are left out, and the report names them`(_ option: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.table, to: "t.csv")
    try scene.home.write("3\n\n5-5\n6\n", to: "list")
    for command in ["import t.csv \(option)", "import \(option) t.csv --on-conflict replace"] {
      let outcome = try scene.shell("secretprefs \(command)")
      #expect(outcome.exit == 0, "\(outcome.errorText)")
      for line in [3, 5, 6] { #expect(outcome.text.contains("\nnot imported: line \(line)"), "\(outcome.text)") }
    }
    #expect(try scene.texts(service: "default") == ["a": "1", "c": "3", "f": "6"])
  }

  @Test func `a list may begin with a byte order mark`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.table, to: "t.csv")
    try scene.home.write("\u{FEFF}3\r\n5\r\n6\r\n", to: "list")
    let outcome = try scene.shell("secretprefs import t.csv --skip @list")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }

  @Test func `a dry run lists all and fails as the import would if keys exist`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("a=1\nb=2\n", to: ".env")
    _ = try scene.shell("printf x | secretprefs set a")
    for option in ["", "--on-conflict skip", "--on-conflict replace"] {
      let dry = try scene.shell("secretprefs import .env --dry-run \(option)")
      #expect(dry.text.hasPrefix("exists  a  string  1 byte\nnew     b  string  1 byte\n"), "\(dry.errorText)")
      #expect(dry.exit == (option.isEmpty ? 1 : 0))
      #expect(dry.errorText.contains("nothing was imported: these keys exist: a\n") == option.isEmpty)
    }
    let json = try scene.shell("secretprefs import .env --dry-run --json")
    #expect(json.exit == 1 && json.text.contains(#""key":"b""#), "\(json.text)")
    #expect(json.errorText.contains(#""code":"alreadyExists""#), "\(json.errorText)")
  }

  @Test func `keys of several services that exist are named with their services`() throws {
    let scene = try ExchangeScene()
    let lines = ["s", "t"].map { #"{"key":"x","service":"\#($0)","kind":"string","value":"v"}"# }
    try scene.home.write(lines.joined(separator: "\n"), to: "r.jsonl")
    let outcome = try scene.shell("secretprefs import r.jsonl; secretprefs import r.jsonl")
    #expect(outcome.errorText.contains("these keys exist: s/x, t/x\n"), "\(outcome.errorText)")
  }

  @Test(
    arguments: [
      (
        "b.json",
        #"{"encrypted":false,"items":[{"name":"B","fields":[{"name":"root/password","value":"f"}]},"#
          + #"{"name":"B/root","login":{"username":"u","password":"p"}}]}"#,
        ["B/root/password": "f", "B/root (2)/username": "u", "B/root (2)/password": "p"]
      ),
      (
        "t.csv", "name,username,password,b/password\nA,u,p,f\nA/b,v,q,\nA/b,w,r,\n",
        [
          "A/username": "u", "A/password": "p", "A/b/password": "f", "A/b (2)/username": "v", "A/b (2)/password": "q",
          "A/b (3)/username": "w", "A/b (3)/password": "r",
        ]
      ),
      (
        "t.csv", "name,username,password,b/password\nA/b,v,q,\nA,u,p,f\n",
        [
          "A/b/username": "v", "A/b/password": "q", "A (2)/username": "u", "A (2)/password": "p",
          "A (2)/b/password": "f",
        ]
      ),
    ] as [(String, String, [String: String])])
  func `an entry stays together if a field of another one has the name of its key`(
    _ name: String, _ text: String, _ keys: [String: String]
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: name)
    let outcome = try scene.shell("secretprefs import \(name)")
    #expect(try scene.texts(service: "default") == keys, "\(outcome.text)\(outcome.errorText)")
  }

  private static let long = String(repeating: "n", count: 1030)

  private static func keepass(_ entries: String) -> String {
    "<KeePassFile><Root><Group><Name>r</Name>\(entries)</Group></Root></KeePassFile>"
  }

  private static func entry(_ title: String, _ fields: String = "") -> String {
    "<Entry><String><Key>Title</Key><Value>\(title)</Value></String>\(fields)"
      + "<String><Key>Password</Key><Value>p</Value></String></Entry>"
  }

  @Test(
    arguments: [
      (
        "b.json",
        #"{"encrypted":false,"items":[{"name":"A","login":{"password":"p"},"fields":[{"name":"\#(long)","value":"x"},"#
          + #"{"name":"\#(long)m","value":"y"}],"passwordHistory":[{"password":"o"}]},"#
          + #"{"name":"Z","login":{"password":"p"}}]}"#,
        ["line 1, A: 2 fields have keys of more than 1024 bytes", "line 1, A: earlier passwords"]
      ),
      (
        "k.xml", keepass(entry("A", "<String><Key>\(long)</Key><Value>x</Value></String>") + entry("Z")),
        ["line 1, A: 1 field has a key of more than 1024 bytes"]
      ),
      (
        "b.json",
        #"{"encrypted":false,"folders":[{"id":"f","name":"\#(long)"}],"items":[{"name":"A","login":{"password":"p"}},"#
          + #"{"name":"X","folderId":"f","login":{"password":"p"}},{"name":"Z","login":{"password":"p"}}]}"#,
        ["line 1, X: a folder whose name has more than 1024 bytes"]
      ),
      (
        "k.xml", keepass(entry("A") + "<Group><Name>\(long)</Name>\(entry("X"))</Group>" + entry("Z")),
        ["line 1, X: groups whose names have more than 1024 bytes"]
      ),
      (
        "t.csv", "name,password,\(long)\nA,p,x\nZ,p,\n",
        ["line 1: 1 column has a name of more than 1024 bytes"]
      ),
    ] as [(String, String, [String])])
  func `a name that is too long is named with what is around it, and takes nothing else along`(
    _ name: String, _ text: String, _ named: [String]
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: name)
    #expect(try scene.shell("secretprefs import \(name)").exit == 65)
    let outcome = try scene.shell("secretprefs import \(name) --skip")
    #expect(try scene.texts(service: "default") == ["A/password": "p", "Z/password": "p"], "\(outcome.errorText)")
    for part in named { #expect(outcome.text.contains("not imported: \(part)\n"), "\(outcome.text)") }
    #expect(outcome.text.matches(of: /not imported/).count == named.count, "\(outcome.text)")
  }

  @Test func `an object whose members are all bad is not called empty`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("{\"ok\":3,\"n\":{\"\(Self.long)\":{\"a\":1}}}", to: "t.json")
    let outcome = try scene.shell("secretprefs import t.json --skip")
    #expect(outcome.text.contains("not imported: line 1, n: a name of more than 1024 bytes\n"), "\(outcome.text)")
    #expect(outcome.text.matches(of: /not imported/).count == 1, "\(outcome.text)")
  }

  @Test(arguments: ["3,5", "6"]) func `bad lines that a list does not have are still refused`(_ list: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.table, to: "t.csv")
    let outcome = try scene.shell("secretprefs import t.csv --skip \(list)")
    #expect(outcome.exit == 65)
    #expect(try scene.texts(service: "default").isEmpty)
  }

  @Test(arguments: ["3-6,2", "x", "6-3", "3-6,7", ",", "@missing"])
  func `a list of another file is refused`(_ list: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(Self.table, to: "t.csv")
    let outcome = try scene.shell("secretprefs import t.csv --skip '\(list)'")
    #expect([64, 74].contains(outcome.exit))
    #expect(try scene.texts(service: "default").isEmpty)
  }

  @Test func `if everything is left out, each part is named with its reason`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("A=op://a/b/c\nexport B\nsops_mac=ENC[AES256_GCM,x]\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env")
    #expect(outcome.exit == 1)
    for part in [
      "line 1, A: a reference of 1Password", "line 2, B: a name without a value", "line 3, sops_mac: metadata of sops",
    ] { #expect(outcome.errorText.contains("\n  \(part)"), "\(outcome.errorText)") }
    let json = try scene.shell("secretprefs import .env --json")
    #expect(try parts(json).map { $0["name"] as? String } == ["A", "B", "sops_mac"])
  }

  @Test func `bad members of JSON are named together, also those with names that are too long`() throws {
    let scene = try ExchangeScene()
    let long = String(repeating: "n", count: 1025)
    try scene.home.write("{\"a\":1,\n\"\":2,\n\"\(long)\":{\"x\":[1,{\"\(long)\":2}]},\n\"a\":3,\"b\":4}", to: "t.json")
    let outcome = try scene.shell("secretprefs import t.json --json")
    #expect(outcome.exit == 65)
    #expect(try parts(outcome).map { $0["line"] as? Int } == [2, 3, 4])
    #expect(try scene.shell("secretprefs import t.json --skip 2-4").exit == 0)
    #expect(try scene.values(service: "default").keys.sorted() == ["a", "b"])
  }

  @Test func `names and reasons with control characters are escaped once`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(#"{"auths":{"a\u001b":{}},"credsStore":"x\u001b[2J"}"#, to: "config.json")
    try scene.home.write("name,password\na,b\n\"c\u{1B}\",d\n", to: "t.csv")
    let docker = try scene.shell("secretprefs import config.json")
    #expect(
      docker.errorText.contains("a\\u{1B}: the login is kept by docker-credential-x\\u{1B}[2J"), "\(docker.errorText)")
    let table = try scene.shell("secretprefs import t.csv; secretprefs import t.csv --skip 3")
    #expect(table.errorText.contains("line 3, c\\u{1B}: not a key") && table.text.contains("line 3, c\\u{1B}: not"))
    for text in [docker.errorText, table.errorText, table.text] { #expect(!text.contains("\u{1B}")) }
    #expect(
      try scene.shell("secretprefs import t.csv --skip 3 --on-conflict replace --json").text.contains(#""c\u001b""#))
  }

  @Test func `several bad logins in one line are each named`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      #"{"auths":{"a":{"auth":"bm9jb2xvbg=="},"b":{"auth":"dTpw"},"c":{"auth":"!!"},"d":{"auth":"OnB3"}}}"#,
      to: "config.json")
    let outcome = try scene.shell("secretprefs import config.json --json")
    #expect(outcome.exit == 65)
    #expect(try parts(outcome).map { $0["name"] as? String } == ["a", "c", "d"])
    #expect(try scene.shell("secretprefs import config.json --skip a,c,d").exit == 0)
    #expect(try scene.texts(service: "docker") == ["b": "p"])
  }

  @Test func `an entry of KeePass or Bitwarden with a bad name does not keep the others out`() throws {
    let long = String(repeating: "n", count: 1025)
    for (name, text) in [
      (
        "k.xml",
        "<KeePassFile><Root><Group><Name>r</Name>"
          + ["a", long].map { title in
            "<Entry><String><Key>Title</Key><Value>\(title)</Value></String><String><Key>Password</Key><Value>p</Value>"
              + "</String></Entry>\n"
          }.joined() + "</Group></Root></KeePassFile>"
      ),
      (
        "b.json",
        "{\"encrypted\":false,\"items\":["
          + ["a", long].map { "{\"name\":\"\($0)\",\"login\":{\"password\":\"p\"}}" }
          .joined(separator: ",\n") + "]}"
      ),
    ] {
      let scene = try ExchangeScene()
      try scene.home.write(text, to: name)
      #expect(try scene.shell("secretprefs import \(name)").exit == 65)
      let outcome = try scene.shell("secretprefs import \(name) --skip 2")
      #expect(outcome.exit == 0, "\(outcome.errorText)")
      #expect(try scene.texts(service: "default") == ["a/password": "p"])
    }
  }
}
