internal import DurableFiles
internal import VaultCore

/// What a user can do about an error of a vault in a database. The message of most of them says it already.
enum DatabaseHints {
  /// Whether a database says an error of itself.
  static func isAbout(_ error: VaultError) -> Bool {
    switch error.subject {
    case .database: true
    case .storage(let name): name.hasPrefix("postgresql://")
    case .logFolder: true
    default: false
    }
  }

  static let grantRequester = "its owner runs \"secretprefs postgres grant requester <role>\""
  static let grantReader = "its owner runs \"secretprefs postgres grant reader <role>\""
  static let grantWriter = "its owner runs \"secretprefs postgres grant writer <role>\""
  static let credentials = "libpq finds a password in ~/.pgpass or $PGPASSFILE, and certificates in ~/.postgresql"

  static func text(_ error: VaultError) -> String? {
    switch error.subject {
    case .logFolder: "name a folder for the logs of this machine with --logs or $SECRETPREFS_LOGS"
    case .database(let refusal): text(refusal) ?? text(error.code)
    default: text(error.code)
    }
  }

  private static func text(_ refusal: DatabaseRefusal) -> String? {
    switch refusal {
    case .passwordInURL, .authentication: credentials
    case .unverified: "libpq finds the certificate authority in ~/.postgresql/root.crt or $PGSSLROOTCERT"
    case .noSchema: "\"secretprefs postgres init\" creates the schema"
    case .olderSchema: "its owner runs \"secretprefs postgres init\""
    case .reading, .logging: grantReader
    case .writing: grantWriter
    case .requesting: grantRequester
    case .requests: "an owner grants or removes some of them: secretprefs requests"
    case .noRole: "an administrator of the server creates it: create role <role> login"
    case .other: nil
    }
  }

  private static func text(_ code: VaultError.Code) -> String? {
    switch code {
    case .notFound: "\"secretprefs init\" creates a vault; \"secretprefs postgres status\" lists those of a database"
    case .alreadyExists: "existing vaults are never overwritten; choose a different name behind #"
    case .unreachable: "nothing was changed; try again when the database can be reached"
    case .lockTimeout: "another process is writing; try again, or wait longer with --lock-timeout"
    case .durabilityUnknown: "check whether the change was made before you repeat it"
    case .limitExceeded: "remove data that is not needed"
    default: nil
    }
  }
}
