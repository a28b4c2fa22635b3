import Foundation
import Testing

struct DockerCredentialTests {
  private static let canary = TranscriptTests.canary

  private static func login(_ server: String, _ user: String, _ secret: String) -> String {
    #"{"ServerURL":"\#(server)","Username":"\#(user)","Secret":"\#(secret)"}"#
  }

  @Test(arguments: ["https://index.docker.io/v1/", "registry.example:5000", "https://r.example/a b/\u{E9}"])
  func `a login is stored under the text that docker gave, listed, given and erased`(_ server: String) throws {
    let scene = try HelperScene()
    let login = Self.login(server, "me@x", #"a\"\\\u0007é"#)
    let stored = try scene.docker("store", login)
    #expect(stored.exit == 0 && stored.output.isEmpty && stored.errors.isEmpty, "\(stored.text)")
    #expect(try scene.docker("list", "unused").text == "{\"\(server)\":\"me@x\"}\n")
    #expect(try scene.docker("get", " \(server)\r\n").text == login + "\n")
    let erased = try scene.docker("erase", server + "\n")
    #expect(erased.exit == 0 && erased.output.isEmpty && erased.errors.isEmpty)
    #expect(try scene.docker("list", "unused").text == "{}\n")
  }

  @Test func `an identity token and a new login under the same server replace the old one`() throws {
    let scene = try HelperScene()
    for login in [Self.login("r", "u", "p"), Self.login("r", "<token>", "t")] {
      #expect(try scene.docker("store", login).exit == 0)
    }
    #expect(try scene.docker("get", "r").text == Self.login("r", "<token>", "t") + "\n")
  }

  @Test func `storing what is stored already writes nothing, so that earlier secrets stay`() throws {
    let scene = try HelperScene()
    let login = Self.login("r", "u", "p")
    #expect(try scene.docker("store", login).exit == 0)
    let before = try scene.exchange.file
    #expect(try scene.docker("store", login).exit == 0)
    #expect(try scene.exchange.file == before)
    for change in [Self.login("r", "v", "p"), Self.login("r", "v", "q")] {
      #expect(try scene.docker("store", change).exit == 0)
      #expect(try scene.docker("get", "r").text == change + "\n")
    }
    #expect(try scene.run("secretprefs edit --service docker r --expiry 2020-01-01T00:00:00Z").exit == 0)
    #expect(try scene.docker("store", Self.login("r", "v", "q")).exit == 0)
    #expect(try scene.docker("get", "r").text == Self.login("r", "v", "q") + "\n")
  }

  @Test func `the logins are in the user's own group, in whichever project docker runs`() throws {
    let scene = try HelperScene()
    let stored = try scene.run(
      """
      set -e
      secretprefs groups create own >&2
      mkdir team; cp v.spv team; cd team
      secretprefs config set vault "$HOME/v.spv" >&2
      secretprefs config set group own >&2
      secretprefs config set --project vault v.spv >&2
      secretprefs config set --project group default >&2
      unset SECRETPREFS_VAULT
      export SECRETPREFS_KEY_FILE=$HOME/k SECRETPREFS_GROUP=default
      docker-credential-secretprefs store
      secretprefs list --service docker --group own --vault "$HOME/v.spv"
      """, Array(Self.login("r", "u", "p").utf8))
    #expect(stored.text == "r\n", "\(stored.errorText)")
  }

  @Test(arguments: [
    "docker-credential-secretprefs store <login",
    "secretprefs import --service docker --on-conflict replace config.json",
  ])
  func `a new login keeps the other attributes of the record`(_ command: String) throws {
    let scene = try HelperScene()
    try scene.exchange.write(Array(Self.login("r", "new", "p").utf8), to: "login")
    try scene.exchange.write(Array(#"{"auths":{"r":{"auth":"bmV3OnA="}}}"#.utf8), to: "config.json")
    let outcome = try scene.run(
      """
      echo x | secretprefs set --service docker r --attribute team=a --attribute username=old || exit
      \(command) >/dev/null || exit
      exec secretprefs info --service docker r --json
      """)
    #expect(outcome.text.contains(#"{"name":"team","text":"a"}"#), "\(outcome.text)\(outcome.errorText)")
    #expect(try scene.docker("get", "r").text == Self.login("r", "new", "p") + "\n")
  }

  private static let refused = [
    ("get", "missing", "credentials not found in native keychain"), ("get", "", "no credentials server URL"),
    ("get", " \r\n", "no credentials server URL"), ("erase", "\n", "no credentials server URL"),
    ("get", "r/", "credentials not found in native keychain"), ("get", "R", "credentials not found in native keychain"),
    ("store", #"{"Username":"u","Secret":"p"}"#, "no credentials server URL"),
    ("store", #"{"ServerURL":"","Username":"u","Secret":"p"}"#, "no credentials server URL"),
    ("store", #"{"ServerURL":1,"Username":"u","Secret":"p"}"#, "no credentials server URL"),
    ("store", #"{"ServerURL":"r","Secret":"p"}"#, "no credentials username"),
    ("store", #"{"ServerURL":"r","Username":"","Secret":"p"}"#, "no credentials username"),
    ("", "", "Usage: docker-credential-secretprefs <store|get|erase|list|version>"),
    ("get get", "", "Usage: docker-credential-secretprefs <store|get|erase|list|version>"),
    ("fetch", "", "docker-credential-secretprefs: unknown action"),
  ]

  @Test func `errors are the texts that docker compares, on standard output`() throws {
    let scene = try HelperScene()
    #expect(try scene.docker("store", Self.login("r", "u", "p")).exit == 0)
    for (action, request, text) in Self.refused {
      let outcome = try scene.docker(action, request)
      #expect(outcome.exit == 1 && outcome.errors.isEmpty)
      #expect(outcome.text == text + "\n")
    }
    #expect(try scene.texts("docker") == ["r": "p"])
  }

  private static let hostile: [[UInt8]] =
    [
      String(login("r", "u", canary).dropLast(2)), login("r", "u", canary) + "{}", "[\"\(canary)\"]", canary, "",
      login("r", "u", canary + "\n"), login("r", "u", canary + "\\ud800"), login("r", "u\\n", canary),
      login("r", "\\u001b[2J", canary), login("r\\ns", "u", canary), login("r\\u0000", "u", canary),
      login(String(repeating: "x", count: 1025), "u", canary), #"{"ServerURL":"r","Username":"u"}"#,
      login("r", String(repeating: "u", count: 70_000), canary), String(repeating: "{\"a\":", count: 100_000),
      login("r", "u", canary + String(repeating: "x", count: 4 << 20)),
    ].map { Array($0.utf8) } + [Array(login("r", "u", canary).utf8) + [0xFF]]

  @Test func `a request that is not in order is an error without content, and nothing changes`() throws {
    let scene = try HelperScene()
    let before = try scene.exchange.file
    let whole = Array(Self.login("r", "u", "p").utf8)
    let parts = stride(from: 0, to: whole.count, by: 7).map { Array(whole.prefix($0)) }
    for (index, request) in (Self.hostile + parts).enumerated() {
      let outcome = try scene.run("docker-credential-secretprefs store", request)
      #expect(outcome.exit == 1 && !outcome.output.isEmpty && outcome.errors.isEmpty, "\(index)")
      #expect(!outcome.text.contains(Self.canary) && outcome.text.utf8.count < 300, "\(index)")
      #expect(!outcome.output.dropLast().contains { $0 < 0x20 }, "\(index)")
    }
    #expect(try scene.exchange.file == before)
  }

  private static let addresses: [[UInt8]] = [
    [0x72, 0x0A, 0x73], [0x72, 0], [0x72, 0xFF], [0x1B, 0x5B], Array(repeating: 0x78, count: 5 << 20),
  ]

  @Test func `the address of a server is one line of text`() throws {
    let scene = try HelperScene()
    for (request, action) in zip(Self.addresses, ["get", "erase", "get", "erase", "get"]) {
      let outcome = try scene.run("docker-credential-secretprefs \(action)", request)
      #expect(outcome.exit == 1 && outcome.errors.isEmpty)
      #expect(outcome.text != "credentials not found in native keychain\n")
      #expect(!outcome.output.dropLast().contains { $0 < 0x20 })
    }
  }

  @Test func `a secret of 1 MiB is stored, and values that are no logins are not given`() throws {
    let scene = try HelperScene()
    let login = Self.login("r", "u", String(repeating: "x", count: 1 << 20))
    #expect(try scene.docker("store", login).exit == 0)
    #expect(try scene.docker("get", "r").text == login + "\n")
    let made = try scene.run(
      """
      export SECRETPREFS_SERVICE=docker
      echo x | secretprefs set user-less && echo x | secretprefs set expired --attribute username=u
      secretprefs edit expired --expiry 2020-01-01T00:00:00Z
      printf '\\377' | secretprefs set data --data --attribute username=u
      """)
    try #require(made.exit == 0, "\(made.errorText)")
    #expect(try scene.docker("list", "").text == #"{"data":"u","r":"u"}"# + "\n")
    for name in ["user-less", "expired"] {
      #expect(try scene.docker("get", name).text == "credentials not found in native keychain\n")
    }
    let outcome = try scene.docker("get", "data")
    #expect(outcome.exit == 1 && outcome.text == "secretprefs: the secret is data and not text\n")
  }

  @Test func `a locked vault is an error on standard output, which docker shows`() throws {
    let scene = try HelperScene()
    for action in ["get", "list", "erase"] {
      let outcome = try scene.run("unset SECRETPREFS_KEY_FILE; echo r | docker-credential-secretprefs \(action)")
      #expect(outcome.exit == 1 && outcome.errors.isEmpty)
      #expect(outcome.text.hasPrefix("secretprefs: no "))
    }
  }

  @Test func `logins that are stored at once are all kept`() throws {
    let scene = try HelperScene()
    let outcome = try scene.run(
      """
      for n in 1 2 3 4 5 6 7 8; do
        printf '{"ServerURL":"r%s","Username":"u","Secret":"p"}' $n | docker-credential-secretprefs store &
        printf '{"ServerURL":"same","Username":"u","Secret":"p"}' | docker-credential-secretprefs store &
      done
      wait
      """)
    #expect(outcome.text + outcome.errorText == "")
    #expect(try scene.texts("docker").count == 9)
  }

  @Test func `an import of docker's file makes logins that docker gets`() throws {
    let scene = try HelperScene()
    let file = #"{"auths":{"https://r/v1/":{"auth":"bWU6cDpz"},"t":{"auth":"bWU6","identitytoken":"i"}}}"#
    try scene.home.write(file, to: "config.json")
    let imported = try scene.run("secretprefs import config.json --service docker")
    #expect(imported.exit == 0, "\(imported.errorText)")
    #expect(try scene.docker("get", "https://r/v1/").text == Self.login("https://r/v1/", "me", "p:s") + "\n")
    #expect(try scene.docker("get", "t").text == Self.login("t", "<token>", "i") + "\n")
  }
}
