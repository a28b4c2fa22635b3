#if PostgreSQL
  internal import CPostgres
  internal import DurableFiles
  internal import VaultCore

  /// A database, and the name of a vault in it.
  struct PostgresLocation: Sendable {
    /// Names the place in errors, without user and credentials.
    let name: String
    /// The name of the vault in the database; empty for the database alone.
    let vault: String
    private let settings: [(keyword: String, value: String)]

    /// What is set unless the URL or libpq's own variables say otherwise. A peer that vanishes is noticed after
    /// seconds.
    private static let defaults = [
      "connect_timeout": "10", "keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "5",
      "keepalives_count": "3", "tcp_user_timeout": "15000", "fallback_application_name": "secretprefs",
    ]
    /// What is always set. Over a Unix socket, libpq does not use TLS and ignores both.
    private static let fixed = ["sslmode": "verify-full", "gssencmode": "disable", "client_encoding": "UTF8"]

    /// - Throws: ``VaultError/Code/invalidName`` for a text that is not a URL of PostgreSQL, and for the vault's name;
    ///   ``VaultError/Code/insecurePermissions`` for a URL with a password, or without TLS. No part of the URL is in
    ///   the error, because a password may be in a wrong part.
    init(_ url: String, vault: String?) throws(VaultError) {
      guard Self.isLoaded else {
        throw VaultError(
          .io, "the library libpq (libpq.so.5, of PostgreSQL 14 or later) cannot be loaded: install it (libpq5)")
      }
      self.vault = try vault.map { (name) throws(VaultError) in try Vault.Name(name).text } ?? ""
      let given = try Self.parse(url)
      guard given["password"] == nil, given["sslpassword"] == nil else {
        throw VaultError(
          .insecurePermissions,
          "the URL of the database contains a password, which ends up in lists of processes and in logs: put it into a "
            + "password file (PGPASSFILE) or a service file (PGSERVICEFILE), or use a client certificate",
          cause: ErrorSubject.database(.passwordInURL))
      }
      let hosts = Self.list(given["host"] ?? given["hostaddr"])
      let areSockets = given["host"] != nil && hosts.allSatisfy { $0.hasPrefix("/") || $0.hasPrefix("@") }
      guard areSockets || given["sslmode"].map({ $0 == Self.fixed["sslmode"] }) ?? true else {
        throw VaultError(
          .insecurePermissions,
          "a connection to the database must have sslmode=verify-full, unless it is a Unix socket: leave sslmode out, "
            + "and name the file of the certificate authority with sslrootcert",
          cause: ErrorSubject.database(.unverified))
      }
      guard given["replication"] == nil else { throw Self.invalid }
      settings = Self.defaults.merging(given) { $1 }.merging(Self.fixed) { $1 }.map { ($0.key, $0.value) }
      name = Self.name(given, hosts, vault)
    }

    /// Loads libpq.
    private static let isLoaded = lazyPQload() != 0

    private static var invalid: VaultError {
      VaultError(
        .invalidName,
        "this is not the URL of a PostgreSQL database: its form is postgresql://host:port/database?parameter=value")
    }

    /// The parameters that a URL sets.
    private static func parse(_ url: String) throws(VaultError) -> [String: String] {
      guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://"), url.utf8.count <= 4096,
        url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
        let options = unsafe lazyPQconninfoParse(url, nil)
      else { throw invalid }
      defer { unsafe lazyPQconninfoFree(options) }
      var given: [String: String] = [:]
      var next = unsafe options
      while let keyword = unsafe next.pointee.keyword {
        if let value = unsafe next.pointee.val {
          unsafe given[String(cString: keyword)] = unsafe String(cString: value)
        }
        unsafe next += 1
      }
      // A line end in a decoded parameter would forge lines of logs.
      guard given.values.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else { throw invalid }
      guard list(given["port"]).allSatisfy({ $0.isEmpty || (1...65535).contains(Int($0) ?? 0) }) else { throw invalid }
      return given
    }

    private static func list(_ text: String?) -> [String] {
      (text ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    private static func name(_ given: [String: String], _ hosts: [String], _ vault: String?) -> String {
      let ports = list(given["port"])
      let places = hosts.enumerated().map { number, host in
        let port = ports.count == 1 ? ports[0] : number < ports.count ? ports[number] : ""
        return encoded(host) + (port.isEmpty ? "" : ":" + encoded(port))
      }
      let service = given["service"].map { "?service=" + encoded($0) } ?? ""
      return "postgresql://" + places.joined(separator: ",") + "/" + encoded(given["dbname"] ?? "") + service
        + (vault.map { "#" + encoded($0) } ?? "")
    }

    /// A text as it is written in a URL.
    static func encoded(_ text: String) -> String { PercentEncoding.encoded(text.utf8, keeping: "-._") }

    /// Connects.
    func connected() throws(VaultError) -> OpaquePointer {
      guard let connection = unsafe connect() else { throw error(.io, "no memory for a connection") }
      guard unsafe lazyPQstatus(connection) == CONNECTION_OK else {
        let reason = unsafe String(cString: lazyPQerrorMessage(connection))
        unsafe lazyPQfinish(connection)
        throw unreachable(reason)
      }
      // Otherwise libpq prints notices of the server to standard error.
      unsafe lazyPQsetNoticeReceiver(connection, { _, _ in }, nil)
      return unsafe connection
    }

    /// Connects and waits for the result; `nil` without memory.
    private func connect() -> OpaquePointer? {
      var keywords = unsafe settings.map { unsafe UnsafePointer(strdup($0.keyword)) }
      var values = unsafe settings.map { unsafe UnsafePointer(strdup($0.value)) }
      unsafe keywords.append(nil)
      unsafe values.append(nil)
      defer {
        unsafe (keywords + values).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
      }
      return unsafe lazyPQconnectdbParams(keywords, values, 0)
    }

    /// An error about the place, with its name.
    func error(
      _ code: VaultError.Code, _ text: String, errno: Int32? = nil, _ refusal: DatabaseRefusal = .other,
      cause: VaultError? = nil
    ) -> VaultError {
      VaultError(code, "\(name): \(text)", errno: errno, cause: cause ?? ErrorSubject.database(refusal))
    }
  }
#endif
