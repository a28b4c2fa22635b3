import Secrets
import Testing
import VaultCore

/// What git's own tests of helpers check, and more, in the terms of the protocol.
struct GitCredentialTests {
  static let host = "protocol=https\nhost=a.example\n"

  @Test func `a password is stored, given, and forgotten`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("get", Self.host).output.isEmpty)
    let stored = try scene.git("store", Self.host + "username=u\npassword=p w=\n")
    #expect(stored.exit == 0 && stored.output.isEmpty && stored.errors.isEmpty, "\(stored.errorText)")
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=p w=\n")
    #expect(try scene.git("erase", Self.host).exit == 0)
    #expect(try scene.git("get", Self.host).output.isEmpty)
    #expect(try scene.texts("git").isEmpty)
  }

  /// Requests that are almost for ``host``.
  private static let others = [
    "protocol=http\nhost=a.example\n", "protocol=https\nhost=b.example\n", "protocol=https\nhost=a.example:443\n",
    "protocol=https\nhost=A.example\n", "protocol=https\nhost=example\n", "protocol=https\nhost=x.a.example\n",
    "protocol=https\nhost=a.example.\n", host + "username=v\n", host + "path=x\n", host + "username=\n",
    "protocol=HTTPS\nhost=a.example\n", "protocol=https\nhost=a.example%\n",
  ]

  /// Requests that would match every password if a missing part matched anything.
  private static let incomplete = [
    "", "\n", "host=a.example\n", "protocol=https\n", "protocol=\nhost=a.example\n", "protocol=https\nhost=\n",
    "username=u\n", "url=https://a.example\n",
  ]

  @Test(arguments: [others, incomplete])
  func `a password is given and erased for its own protocol and host alone`(
    _ requests: [String]
  ) throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=u\npassword=p\n").exit == 0)
    for request in requests {
      for operation in ["get", "erase"] {
        let outcome = try scene.git(operation, request)
        #expect(outcome.exit == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(request)")
      }
    }
    #expect(try scene.texts("git") == ["https://u@a.example": "p"])
  }

  @Test func `storing the same user again replaces the password, and other users stay`() throws {
    let scene = try HelperScene()
    for login in ["u p1", "v p2", "u p3"].map({ $0.split(separator: " ") }) {
      #expect(try scene.git("store", Self.host + "username=\(login[0])\npassword=\(login[1])\n").exit == 0)
    }
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=p3\n")
    #expect(try scene.git("get", Self.host + "username=v\n").text == "username=v\npassword=p2\n")
    #expect(try scene.git("erase", Self.host + "username=u\n").exit == 0)
    #expect(try scene.texts("git") == ["https://v@a.example": "p2"])
    #expect(try scene.git("store", Self.host + "username=u\npassword=p3\n").exit == 0)
    #expect(try scene.git("erase", Self.host).exit == 0)
    #expect(try scene.texts("git").isEmpty)
  }

  @Test func `of several users the one stored last is given, also if a clock was ahead before`() throws {
    let scene = try HelperScene()
    var options = Vault.Options()
    options.now = { 4_102_444_800_000 }
    let path = scene.home.file("v.spv")
    let ahead = try Vault.open(at: path, unlocking: .keyFile(scene.home.file("k")), options: options)
    let password = Array("p1".utf8)
    try ahead.transaction(service: try Vault.Name("git"), in: ahead.group()) { (batch) throws(VaultError) in
      try batch.set(password.span.bytes, kind: .string, forKey: "https://u@a.example")
    }
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=p1\n")
    #expect(try scene.git("store", Self.host + "username=v\npassword=p2\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=v\npassword=p2\n")
    #expect(try scene.git("store", Self.host + "username=u\npassword=p3\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=p3\n")
  }

  @Test func `of several users stored in one write, the first by name is given`() throws {
    let scene = try HelperScene()
    try scene.exchange.store(
      ["https://b@a.example": Array("2".utf8), "https://a@a.example": Array("1".utf8)], service: "git")
    #expect(try scene.git("get", Self.host).text == "username=a\npassword=1\n")
  }

  @Test func `erase spares a password that differs from the rejected one`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=u\npassword=new\n").exit == 0)
    #expect(try scene.git("erase", Self.host + "username=u\npassword=old\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=new\n")
    #expect(try scene.git("erase", Self.host + "username=u\npassword=new\n").exit == 0)
    #expect(try scene.texts("git").isEmpty)
  }

  @Test func `an empty user name and password are stored as they are`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=\npassword=\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=\npassword=\n")
  }

  @Test func `a request with a path gets the password of the path, and one without prefers that of the host`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=u\npassword=host\n").exit == 0)
    #expect(try scene.git("store", Self.host + "path=a b/c.git\nusername=u\npassword=path\n").exit == 0)
    #expect(try scene.git("get", Self.host + "path=a b/c.git\n").text == "username=u\npassword=path\n")
    #expect(try scene.git("get", Self.host + "path=c.git\n").output.isEmpty)
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=host\n")
    #expect(try scene.texts("git")["https://u@a.example/a%20b/c.git"] == "path")
  }

  @Test func `what is incomplete, expired or not for keeping is not stored`() throws {
    let scene = try HelperScene()
    for login in [
      "username=u\n", "password=p\n", "username=u\npassword=p\nephemeral=1\n",
      "username=u\npassword=p\nephemeral=true\n", "username=u\npassword=p\npassword_expiry_utc=1000000000\n",
      "authtype=Bearer\ncredential=c\nephemeral=1\n", "authtype=Bearer\n", "credential=c\n",
      "username=u\npassword=p\nhost=\n",
    ] {
      let outcome = try scene.git("store", Self.host + login)
      #expect(outcome.exit == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
    }
    #expect(try scene.texts("git").isEmpty)
  }

  @Test func `the expiry is that of the key, and the refresh token belongs to the password`() throws {
    let scene = try HelperScene()
    let login = "username=u\npassword=p\npassword_expiry_utc=4000000000\noauth_refresh_token=r\n"
    #expect(try scene.git("store", Self.host + login).exit == 0)
    #expect(try scene.git("get", Self.host).text == login)
    #expect(
      try scene.run("secretprefs info --service git https://u@a.example").text.contains("2096-10-02T07:06:40")
    )
    // A new password without them has neither.
    #expect(try scene.git("store", Self.host + "username=u\npassword=q\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=q\n")
    #expect(try scene.git("store", Self.host + login).exit == 0)
    #expect(try scene.git("erase", Self.host).exit == 0)
    #expect(try scene.texts("git").isEmpty)
  }

  @Test func `an expired password is not given, but its user and refresh token are`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=u\npassword=p\noauth_refresh_token=r\n").exit == 0)
    #expect(
      try scene.run("secretprefs edit --service git https://u@a.example --expiry 2020-01-01T00:00:00Z").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u\noauth_refresh_token=r\n")
    // The server has accepted it nevertheless.
    #expect(try scene.git("store", Self.host + "username=u\npassword=p\n").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u\npassword=p\n")
  }

  @Test func `a token with a scheme is for versions of git that take one`() throws {
    let scene = try HelperScene()
    let (takes, token) = ("capability[]=authtype\n", "authtype=Bearer\ncredential=a=b\n")
    #expect(try scene.git("store", takes + Self.host + token).exit == 0)
    #expect(try scene.git("get", takes + Self.host).text == takes + token)
    for request in ["", takes + "capability[]=\n", takes + "username=v\n", "capability[]=state\n"] {
      #expect(try scene.git("get", request + Self.host).output.isEmpty)
    }
    #expect(try scene.git("erase", Self.host + "authtype=Bearer\ncredential=c\n").exit == 0)
    #expect(try scene.git("erase", Self.host + "password=a=b\n").exit == 0)
    #expect(try scene.texts("git") == ["https://a.example": "a=b"])
    #expect(try scene.git("erase", Self.host + token).exit == 0)
    #expect(try scene.texts("git").isEmpty)
  }

  @Test func `a password takes the place of a token of the same user, and the other way round`() throws {
    let scene = try HelperScene()
    let (takes, user) = ("capability[]=authtype\n", "username=u\n")
    for login in ["authtype=Bearer\n" + user + "credential=t\n", user + "password=t\n"] {
      #expect(try scene.git("store", takes + Self.host + login).exit == 0)
      #expect(try scene.git("get", takes + Self.host).text.hasSuffix(login))
    }
    #expect(try scene.git("get", Self.host).text == user + "password=t\n")
    #expect(try scene.git("erase", Self.host + "credential=t\n").exit == 0)
    #expect(try scene.texts("git") == ["https://u@a.example": "t"])
  }

  @Test func `storing what is stored already writes nothing`() throws {
    let scene = try HelperScene()
    let login = Self.host + "username=u\npassword=p\npassword_expiry_utc=4000000000\noauth_refresh_token=r\n"
    #expect(try scene.git("store", login).exit == 0)
    let before = try scene.exchange.file
    // Versions of git before 2.41 drop what they do not know.
    for login in [login, Self.host + "username=u\npassword=p\n"] {
      #expect(try scene.git("store", login).exit == 0)
      #expect(try scene.exchange.file == before)
    }
    for change in ["password=q\n", "oauth_refresh_token=s\n", "password_expiry_utc=4000000001\n"] {
      #expect(try scene.git("store", login + change).exit == 0)
      #expect(try scene.git("get", Self.host).text.contains(change))
    }
  }

  @Test func `a request is waited for, also if a process has made the pipe non-blocking`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.host + "username=u\npassword=p\n").exit == 0)
    let outcome = try scene.run(
      """
      (sleep 0.3; cat) |
        perl -MFcntl -e 'fcntl(STDIN, F_SETFL, O_NONBLOCK) or die; exec @ARGV' git-credential-secretprefs get
      """, Array(Self.host.utf8))
    #expect(outcome.text == "username=u\npassword=p\n", "\(outcome.errorText)")
  }

  @Test func `an import and the tool's own commands make passwords that git gets`() throws {
    let scene = try HelperScene()
    try scene.home.write("https://u%40x:p%3a@a.example\n", to: ".git-credentials")
    #expect(try scene.run("secretprefs import .git-credentials --service git").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u@x\npassword=p:\n")
    // A password that is imported takes the place of a token with a scheme.
    let token = "echo t | secretprefs set --service git https://u%40x@a.example --attribute authtype=Bearer"
    #expect(try scene.run(token).exit == 0)
    #expect(try scene.run("secretprefs import .git-credentials --service git --on-conflict replace").exit == 0)
    #expect(try scene.git("get", Self.host).text == "username=u@x\npassword=p:\n")
    #expect(try scene.run("echo t | secretprefs set --service git https://v@b.example:8443").exit == 0)
    #expect(try scene.git("get", "protocol=https\nhost=b.example:8443\n").text == "username=v\npassword=t\n")
  }
}
