#if PostgreSQL
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// The errors of connections that could not be made. Without a server.
  struct ConnectionFailureTests {
    private static func error(_ text: String) throws -> VaultError {
      try PostgresLocation("postgresql://db.example.com/secrets", vault: "shop").unreachable(text)
    }

    private static let start = #"connection to server at "db.example.com" (192.0.2.1), port 5432 failed: "#

    @Test(arguments: [
      "SSL SYSCALL error: EOF detected", "SSL SYSCALL error: Connection reset by peer",
      "could not send SSL negotiation packet: Broken pipe", "SSL error: unexpected eof while reading",
      "Connection refused", "timeout expired", #"FATAL:  role "certificate" does not exist"#,
    ])
    func `a connection that broke is unreachable`(text: String) throws {
      for text in [text, Self.start + text, Self.start + text + "\nmore about a certificate"] {
        #expect(try Self.error(text).code == .unreachable, "\(text)")
      }
    }

    @Test(arguments: [
      #"FATAL:  password authentication failed for user "shop""#, "fe_sendauth: no password supplied",
      #"FATAL:  certificate authentication failed for user "shop""#,
    ])
    func `a role that the server refuses is said to be`(text: String) throws {
      let error = try Self.error(Self.start + text)
      #expect(error.code == .unreachable && error.message.contains("refused the role"))
      #expect(try !Self.error(#"role "authentication failed" does not exist"#).message.contains("refused the role"))
    }

    @Test(arguments: [
      "SSL error: certificate verify failed", "server does not support SSL, but SSL was required",
      #"root certificate file "/etc/root.crt" does not exist"#,
      #"server certificate for "other" does not match host name "db.example.com""#,
    ])
    func `a server that was not verified is insecurePermissions`(text: String) throws {
      for text in [text, Self.start + text] {
        #expect(try Self.error(text).code == .insecurePermissions, "\(text)")
      }
    }

    @Test(arguments: [
      #"could not translate host name "PRIVATE-7b2e" to address: Name or service not known"#,
      #"could not translate host name "me:"PRIVATE-7b2e" to address: Name or service not known"#,
      #"FATAL:  database "a"PRIVATE-7b2e"b" does not exist"#, #"FATAL:  database "PRIVATE-7b2e"#,
      #"FATAL:  database "a" PRIVATE-7b2e "b""#,
    ])
    func `what is in quotes is left out, also if it has quotes itself`(text: String) throws {
      for text in [text, Self.start + text] {
        let message = try Self.error(text).message
        #expect(!message.contains("PRIVATE") && message.contains("…"), "\(message)")
      }
    }

    @Test func `a time of any length has milliseconds`() {
      let longest = Duration.seconds(Int64.max)
      for time in [longest, longest + longest] { #expect(time.millisecondsRoundedUp > 1 << 50) }
      #expect((.zero - longest).millisecondsRoundedUp < 0)
      #expect(Duration.zero.millisecondsRoundedUp == 0)
      #expect(Duration.nanoseconds(1).millisecondsRoundedUp == 1)
      #expect(Duration.milliseconds(1500).millisecondsRoundedUp == 1500)
    }
  }
#endif
