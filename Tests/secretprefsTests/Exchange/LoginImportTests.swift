import Foundation
import Testing

/// The logins of docker, git and curl: what an import makes of them, and what the programs read.
struct LoginImportTests {
  struct DockerSample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String
    /// What `docker-credential get` gives for r.example; `nil` if the file has no login for it.
    let login: String?
    var left: [String] = []
  }

  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  private static func login(_ user: String, _ secret: String) -> String {
    "{\"ServerURL\":\"r.example\",\"Username\":\"\(user)\",\"Secret\":\"\(secret)\"}\n"
  }

  static let dockerSamples = [
    DockerSample(
      testDescription: "a user and a password", text: #"{"auths":{"r.example":{"username":"al","password":"pw"}}}"#,
      login: login("al", "pw")),
    DockerSample(
      testDescription: "the same in auth and beside it",
      text: "{\"auths\":{\"r.example\":{\"username\":\"al\",\"password\":\"p:w\",\"auth\":\"\(base64("al:p:w"))\"}}}",
      login: login("al", "p:w")),
    DockerSample(
      testDescription: "auth, and something else beside it",
      text: "{\"auths\":{\"r.example\":{\"username\":\"x\",\"password\":\"y\",\"auth\":\"\(base64("al:pw"))\"}}}",
      login: login("al", "pw"), left: ["r.example/username: docker uses", "r.example/password: docker uses"]),
    DockerSample(
      testDescription: "names in other cases", text: "{\"AUTHS\":{\"r.example\":{\"Auth\":\"\(base64("al:pw"))\"}}}",
      login: login("al", "pw")),
    DockerSample(
      testDescription: "NUL bytes behind the password",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:pw\0\0"))\"}}}", login: login("al", "pw")),
    DockerSample(
      testDescription: "an identity token before all",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:"))\",\"identitytoken\":\"tok\",\"password\":\"x\"}}}",
      login: login("<token>", "tok"), left: ["r.example/password: docker uses the identity token"]),
    DockerSample(
      testDescription: "another login beside an identity token",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:pw"))\",\"identitytoken\":\"tok\"}}}",
      login: login("<token>", "tok"), left: ["r.example/auth: docker uses the identity token"]),
    DockerSample(
      testDescription: "a bad login beside an identity token",
      text: #"{"auths":{"r.example":{"auth":"!","identitytoken":"tok"}}}"#,
      login: login("<token>", "tok"), left: ["r.example/auth: docker uses the identity token"]),
    DockerSample(
      testDescription: "what docker does not read",
      text: #"{"auths":{"r.example":{"username":"al","password":"pw","email":"e","x":{"y":"z"}}},"psFormat":"p"}"#,
      login: login("al", "pw"),
      left: ["r.example/email: ", "r.example/x.y: no part of a login", "psFormat: a setting of docker"]),
    DockerSample(
      testDescription: "the last member counts",
      text: #"{"auths":{"r.example":{"username":"al","password":"x","password":"pw"}}}"#, login: login("al", "pw"),
      left: ["r.example/password: docker reads a later member"]),
    DockerSample(
      testDescription: "the last login of a registry counts, as a whole",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:old"))\"},"
        + "\"r.example\":{\"username\":\"al\",\"password\":\"pw\"}}}",
      login: login("al", "pw"), left: ["r.example: docker reads a later login"]),
    DockerSample(
      testDescription: "members of one name in different cases",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:old"))\",\"Auth\":\"\(base64("al:pw"))\"}}}",
      login: login("al", "pw"), left: ["r.example/auth: docker reads a later member"]),
    DockerSample(
      testDescription: "a file without auths",
      text: "{\"r.example\":{\"auth\":\"\(base64("al:pw"))\",\"email\":\"e\"}}",
      login: login("al", "pw"), left: ["r.example/email: "]),
    DockerSample(
      testDescription: "line ends in auth",
      text: #"{"auths":{"r.example":{"auth":"YWw6\r\ncHc=\n"}}}"#, login: login("al", "pw")),
    DockerSample(
      testDescription: "a file without auths, and a host without a dot",
      text: #"{"r.example":{"auth":"YWw6cHc="},"registry":{"email":"e","auth":""}}"#, login: login("al", "pw"),
      left: ["registry: no login", "registry/email: "]),
    DockerSample(
      testDescription: "logins that a program keeps",
      text: #"{"auths":{"r.example":{}},"credsStore":"desktop","credHelpers":{"q.example":"gcr"}}"#, login: nil,
      left: [
        "credsStore: all other logins are kept by docker-credential-desktop",
        "r.example: the login is kept by docker-credential-desktop",
        "credHelpers.q.example: the login is kept by docker-credential-gcr",
      ]),
    DockerSample(
      testDescription: "a program without a name keeps no login",
      text: #"{"auths":{"r.example":{},"q.example":{}},"credsStore":"","credHelpers":{"q.example":""}}"#, login: nil,
      left: [
        "credsStore: a setting of docker", "credHelpers: a setting of docker", "r.example: no login",
        "q.example: no login",
      ]),
    DockerSample(
      testDescription: "a registry without the program of all others",
      text: #"{"auths":{"r.example":{}},"credsStore":"desktop","credHelpers":{"r.example":""}}"#, login: nil,
      left: ["credsStore: all other logins are kept by docker-credential-desktop", "r.example: no login"]),
    DockerSample(
      testDescription: "a login in the file that docker does not read",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:pw"))\"}},\"credsStore\":\"desktop\"}",
      login: login("al", "pw"), left: ["credsStore: all other", "r.example: docker asks docker-credential-desktop"]),
    DockerSample(
      testDescription: "a login that docker reads, beside a helper for other registries",
      text: "{\"auths\":{\"r.example\":{\"auth\":\"\(base64("al:pw"))\"}},\"credHelpers\":{\"q.example\":\"x\"}}",
      login: login("al", "pw"), left: ["credHelpers.q.example: the login is kept"]),
    DockerSample(
      testDescription: "no logins", text: #"{"auths":null,"credsStore":"desktop"}"#, login: nil,
      left: ["credsStore: all other"]),
    DockerSample(
      testDescription: "only a setting", text: #"{"credsStore":"desktop"}"#, login: nil, left: ["credsStore: all other"]
    ),
    DockerSample(
      testDescription: "a token for a registry", text: #"{"auths":{"r.example":{"registrytoken":"t"}}}"#, login: nil,
      left: ["r.example/registrytoken: a credential helper cannot"]),
  ]

  @Test(arguments: dockerSamples)
  func `docker's helper gives the login that docker would use, and the rest is named`(_ sample: DockerSample) throws {
    for name in ["config.json", "auth.json", ".dockerconfigjson", ".dockercfg", "pull-secret.json"] {
      let scene = try ExchangeScene()
      try scene.home.write(sample.text, to: name)
      let outcome = try scene.shell("export SECRETPREFS_SERVICE=other; secretprefs import \(name)")
      #expect(outcome.exit == (sample.login == nil ? 1 : 0), "\(outcome.errorText)")
      let report = outcome.text + outcome.errorText
      for left in sample.left { #expect(report.contains(left), "\(report)") }
      let found = try scene.shell("printf r.example | secretprefs docker-credential get")
      #expect(found.text == sample.login ?? "credentials not found in native keychain\n")
      #expect(try scene.values(service: "docker").count == (sample.login == nil ? 0 : 1))
    }
  }

  @Test(arguments: [
    #"{"smtp":{"username":"u","password":"p","auth":"plain"}}"#, #"{"redis":{"auth":"s3cret","username":"app"}}"#,
    #"{"svc":{"auth":"dXNlcjpwYXNz"}}"#, #"{"db":"z","credsStore":"x"}"#, #"{"auths":{"r":"x"}}"#,
  ])
  func `other JSON with the words of docker's files is no file of docker`(_ text: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "c.json")
    let outcome = try scene.shell("secretprefs import c.json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.values(service: "docker").isEmpty)
    #expect(try !scene.values(service: "default").isEmpty)
  }

  @Test(arguments: [
    (".dockercfg", "", #"{"h":{"auth":"dTpw"},"psFormat":"p"}"#), (".dockercfg", "", #"{"h":{"auth":"dTpw"}}"#),
    ("c.json", "--format docker", #"{"h":{"auth":"dTpw"},"proxies":{"default":{"httpProxy":"x"}}}"#),
    ("c.json", "", #"{"h":{"auth":"dTpw"},"gcr.io":{"auth":"dTpx"}}"#),
  ])
  func `each member with auth is a login in a file of docker`(_ name: String, _ option: String, _ text: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: name)
    let outcome = try scene.shell("secretprefs import \(name) \(option)")
    #expect(try scene.texts(service: "docker")["h"] == "p", "\(outcome.text)\(outcome.errorText)")
    #expect(try scene.values(service: "default").isEmpty)
  }

  @Test func `a bad login of docker does not keep the others out`() throws {
    let scene = try ExchangeScene()
    let long = String(repeating: "u", count: 1025)
    try scene.home.write(
      #"{"auths":{"a":{"auth":"dTpwdw"},"b":{"auth":"dTpw"},"c":{"username":"\#(long)","password":"p"}}}"#,
      to: "config.json")
    let outcome = try scene.shell("secretprefs import config.json --skip")
    #expect(try scene.texts(service: "docker") == ["b": "p"], "\(outcome.errorText)")
    #expect(outcome.text.contains("line 1, a: a login that is not base64"), "\(outcome.text)")
    #expect(outcome.text.contains("line 1, c: a name of more than 1024 bytes"), "\(outcome.text)")
  }

  @Test(arguments: [#""x""#, "[]", "1"])
  func `a login of another form is named, and the others are imported`(_ login: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(#"{"auths":{"r.example":{"auth":"YWw6cHc="},"s":\#(login)}}"#, to: "config.json")
    let outcome = try scene.shell("secretprefs import config.json")
    #expect(outcome.text.contains("not imported: line 1, s: no login\n"), "\(outcome.text)\(outcome.errorText)")
    #expect(try scene.values(service: "docker").count == 1)
  }

  /// Lines of git's credential store, of any form.
  static let gitLines = [
    "# https://a:b@c.example", "", "  ", "https://u@user.example", "https://u:100%@percent.example",
    "https://u:%41%4@half.example", "https://u:a%20b:c%20d@colon.example", "https://u:p@crlf.example\r",
    "https://u:p@path.example/a\r", "https://u:p@query.example?x", "https://u:p@mark.example#f",
    "https://u:p@slashes.example//a/b//", "https://u:%00x@nul.example", "https://:p@nouser.example",
    "https://u:@nopassword.example", "://u:p@noscheme.example", "  https://u:p@blank.example",
    "https://u:p@two@at.example",
    "HTTPS://u:p@case.example", "nonsense", "https://u:p@[::1]:8443/x", "https://a%40b:p@user-at.example",
    "https://u:p@port.example:8443", "https://u:p%0ax@line.example", "https://u%0A:p@line.example",
    "https://u:p@line.example/a%0a", "https://u:p@line.example%0a",
    "https://u:p/x@slash.example", "https://u:p#x@hash.example", "https:///u:p@empty.example",
  ]

  @Test(.enabled(if: HelperScene.hasGit), arguments: gitLines)
  func `git's helper gives what git's own store gives for each line`(_ line: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write("https://v:w@other.example\n\(line)\n", to: ".git-credentials")
    let outcome = try scene.shell("export SECRETPREFS_SERVICE=other; secretprefs import .git-credentials")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let hosts = Set(
      line.split { "@/?#\r ".contains($0) }.map(String.init).filter { $0.contains("example") || $0.contains("[") })
    for host in hosts {
      let request = "printf 'protocol=https\\nhost=\(host)\\n\\n'"
      let own = try scene.shell("\(request) | git credential-store --file .git-credentials get")
      let ours = try scene.shell("\(request) | secretprefs git-credential get")
      #expect(ours.text == own.text, "\(host): \(outcome.text)")
    }
    let isRead = outcome.text.hasPrefix("2 keys")
    let isComment = line.hasPrefix("#") || line.allSatisfy { $0 == " " }
    #expect(isRead || isComment || outcome.text.contains("not imported: line 2"), "\(outcome.text)")
  }

  @Test func `a user name alone beside an identity token is not named`() throws {
    let scene = try ExchangeScene()
    let auth = Self.base64("00000000-0000-0000-0000-000000000000:")
    try scene.home.write(
      "{\"auths\":{\"r.example\":{\"auth\":\"\(auth)\",\"identitytoken\":\"tok\"}}}", to: "config.json")
    let outcome = try scene.shell("secretprefs import config.json")
    #expect(outcome.text.hasPrefix("1 key imported") && !outcome.text.contains("not imported"), "\(outcome.text)")
  }

  @Test(arguments: [
    ("a%0Db", 1, false), ("a%1Bb", 1, false), ("%09", 1, false), ("p", 65_526, false), ("p", 65_525, true),
    ("a b", 1, true),
  ])
  func `a password that the helper cannot give to git has a note`(
    _ part: String, _ count: Int, _ isGiven: Bool
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write("https://u:\(String(repeating: part, count: count))@h\n", to: ".git-credentials")
    let outcome = try scene.shell("secretprefs import .git-credentials")
    let note = "note: line 1, https://u@h: git-credential cannot give it to git"
    #expect(outcome.text.contains(note) != isGiven, "\(outcome.text)\(outcome.errorText)")
    let found = try scene.shell("printf 'protocol=https\\nhost=h\\n\\n' | secretprefs git-credential get")
    #expect(found.text.contains("password=") == isGiven, "\(found.errorText)")
  }

  /// Lines with a password that git does not find, and how the report names them.
  static let hiddenPasswords = [
    ("https://user:\(TranscriptTests.canary)/x@h.example", "line 2: git finds no user and password"),
    ("https://user:x#\(TranscriptTests.canary)@h.example", "line 2: git finds no user and password"),
    ("https://user:x?\(TranscriptTests.canary)@h.example", "line 2: git finds no user and password"),
    ("https:///user:\(TranscriptTests.canary)@h.example", "line 2: git finds no user and password"),
    ("https://user:x@\(TranscriptTests.canary)@h.example", "line 2: git takes all behind the first @ for the host"),
    ("https://h.example/?token=\(TranscriptTests.canary)", "line 2: git ignores a URL without a user"),
    ("https://\(TranscriptTests.canary)@h.example", "line 2, https://h.example: git ignores a URL without a user"),
    ("https://x@\(TranscriptTests.canary)@h.example", "line 2: git ignores a URL without a user"),
    ("https://u:\(TranscriptTests.canary)%0a@h.example", "line 2: git ignores a URL with %0a"),
    ("https://u:\(TranscriptTests.canary)@/h.example", "line 2: a URL without a host"),
    ("\(TranscriptTests.canary)", "line 2: git ignores a line that is no URL"),
  ]

  @Test(arguments: hiddenPasswords)
  func `a line that git does not understand is named without what may be a password`(
    _ line: String, _ name: String
  ) throws {
    let scene = try ExchangeScene()
    for good in ["https://v:w@other.example", "# nothing"] {
      try scene.home.write("\(good)\n\(line)\n", to: ".git-credentials")
      for option in ["--dry-run", "--dry-run --json", "--json", "--on-conflict replace"] {
        let outcome = try scene.shell("secretprefs import .git-credentials \(option)")
        let report = outcome.text + outcome.errorText
        #expect(report.contains(name) || option.contains("json"), "\(report)")
        #expect(!report.contains(TranscriptTests.canary))
      }
    }
  }

  @Test func `a line that git ignores does not take the place of a later one`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("https://u:p%0ax@h\nhttps://u:good@h\n", to: ".git-credentials")
    let outcome = try scene.shell("secretprefs import .git-credentials")
    #expect(outcome.text.contains("not imported: line 1: git ignores a URL with %0a"), "\(outcome.text)")
    #expect(try scene.texts(service: "git") == ["https://u@h": "good"])
  }

  /// Files for the machine a.example.
  static let netrcFiles = [
    "machine a.example login u password p", "machine a.example\n\tlogin u\n\tpassword p\n",
    "MACHINE a.example LOGIN u PASSWORD p",
    "machine a.example login u password \"p q\"", "machine a.example login u password \"p\\\"\\\\\\tq\"",
    "# x\nmachine a.example # y\nlogin u\n  # z\npassword p",
    "machine a.example port 21 login u protocol https password p",
    "machine b.example login x password y\nmachine a.example login u password p", "default login u password p",
    "machine a.example login u password p\r\n", "machine a.example account x login u password p method z",
    "macdef init\nlogin x\npassword y\n\nmachine a.example login u password p",
    "machine a.example login u password p # login v", "machine a.example login u # password x\npassword y",
    "machine a.example login u password # x\n# y\np", "machine # x\na.example login u password p",
    "machine a.example login u password p#x", "machine a.example port #21 login x\nlogin u password p",
    "machine a.example port # 21\nlogin u password p", "machine a.example login u password p # \"x\nlogin z",
    "machine a.example login u password p #machine b.example\r\n", "default # x\nlogin u password p",
    "machine a.example login \"#u\" password \"#p\"", "machine a.example login u account # x\n password p",
  ]

  @Test(.enabled(if: LoginImportTests.hasCurlAndPython), arguments: netrcFiles)
  func `a netrc file is read as curl reads it`(_ text: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: ".netrc")
    try scene.home.write(Self.server, to: "server.py")
    let curl = try scene.shell("python3 server.py")
    let outcome = try scene.shell("secretprefs import .netrc")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let keys = try scene.texts(service: "default")
    let name = keys["a.example/password"] == nil ? "default" : "a.example"
    let ours = "\(keys["\(name)/username"] ?? ""):\(keys["\(name)/password"] ?? "")"
    #expect(curl.text == Data(ours.utf8).base64EncodedString(), "\(curl.errorText)")
  }

  @Test(arguments: [
    ("machine a login u password p # login v\n", true), ("machine a # Machine b\n login u password p", true),
    ("machine a login u password p # x y\n", false), ("machine a login u password p\n  # login v\n", false),
    ("machine a login u # \n password p", false),
  ])
  func `keywords in a comment behind other words are named, without their values`(
    _ text: String, _ isNamed: Bool
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: ".netrc")
    let outcome = try scene.shell("secretprefs import .netrc")
    #expect(try scene.texts(service: "default") == ["a/username": "u", "a/password": "p"], "\(outcome.errorText)")
    #expect(outcome.text.contains("not imported: line 1, a: keywords in a comment") == isNamed, "\(outcome.text)")
    #expect(!outcome.text.contains("login") && !outcome.text.contains("Machine"), "\(outcome.text)")
  }

  @Test(
    arguments: [
      (
        "machine a login u password p\nfoo machine x login y\npassword z\n\n# c\nmachine b login c password d\n",
        "lines 2 to 3: not a keyword", ["a/username": "u", "a/password": "p"], 0
      ),
      ("machine a login u password p q\naccount x\nmachine b login c password d\n", "lines 1 to 2: not a", [:], 1),
      (
        "machine a login u password p\nq\nmachine b login c password d", "line 2: not a keyword",
        ["a/username": "u", "a/password": "p"], 0
      ),
      (
        "machine a login u password p\nfoo\npassword q\nmachine b login c password d", "lines 2 to 3: not a",
        ["a/username": "u", "a/password": "p"], 0
      ),
      ("machine a password p\nfoo\nlogin u\nmachine b login c password d", "lines 2 to 3: not a", [:], 1),
      ("machine a login u\nfoo\npassword q\nmachine b login c password d", "lines 2 to 3: not a keyword", [:], 1),
      ("login x\npassword y\nmachine b login c password d", "lines 1 to 2: a login before the first machine", [:], 0),
    ] as [(String, String, [String: String], Int)])
  func `what a bad word takes along is named, and a whole login before it is kept`(
    _ text: String, _ named: String, _ keys: [String: String], _ broken: Int
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: ".netrc")
    let outcome = try scene.shell("secretprefs import .netrc --skip")
    #expect(outcome.text.contains("not imported: \(named)"), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.matches(of: /line 1, a: a part of it is bad/).count == broken, "\(outcome.text)")
    let all = keys.merging(["b/username": "c", "b/password": "d"]) { first, _ in first }
    #expect(try scene.texts(service: "default") == all)
  }

  @Test func `a value that begins with a hash sign is kept, with a note`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("machine a login #u password #1\nmachine b login v password \"#2\"\n", to: ".netrc")
    let outcome = try scene.shell("secretprefs import .netrc")
    #expect(
      try scene.texts(service: "default") == [
        "a/username": "#u", "a/password": "#1", "b/username": "v", "b/password": "#2",
      ], "\(outcome.errorText)")
    #expect(outcome.text.matches(of: /note: line 1, a\/[a-z]+: curl takes it for a comment/).count == 2)
    #expect(!outcome.text.contains("line 2"), "\(outcome.text)")
  }

  static let hasCurlAndPython = (try? Tool.shell("curl --version && python3 --version", in: Scratch()).exit) == 0

  /// Prints the login that curl sends to a.example.
  private static let server = """
    import http.server, subprocess, threading
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            print((self.headers['Authorization'] or '').removeprefix('Basic '), end='', flush=True)
            self.send_response(204); self.end_headers()
        def log_message(self, *words): pass
    server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
    port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    subprocess.run(['curl', '-s', '--noproxy', '*', '--netrc-file', '.netrc', '--resolve', f'a.example:{port}:127.0.0.1',
                    f'http://a.example:{port}/'], check=True)
    """
}
