internal import DurableFiles
internal import VaultCore

/// What a user can do about an error of a vault in a database. The message of most of them says it already.
enum DatabaseHints {
  /// Whether an error begins with the name of a database, as all of its own do.
  static func isAbout(_ error: VaultError) -> Bool { error.message.hasPrefix("postgresql://") }

  static let grantRequester = "its owner runs \"secretprefs postgres grant requester <role>\""
  static let grantReader = "its owner runs \"secretprefs postgres grant reader <role>\""
  static let grantWriter = "its owner runs \"secretprefs postgres grant writer <role>\""

  static func text(_ error: VaultError) -> String? {
    switch error.code {
    case .notFound where error.message.contains("no role"): nil
    case .notFound: "\"secretprefs init\" creates a vault; \"secretprefs postgres status\" lists those of a database"
    case .alreadyExists: "existing vaults are never overwritten; choose a different name behind #"
    case .unsupportedFeature where error.message.contains("logged"):
      "name a folder for the logs of this machine with --logs or $SECRETPREFS_LOGS"
    case .unsupportedVersion where error.message.contains("up to date"):
      "its owner runs \"secretprefs postgres init\""
    case .readOnly where error.message.contains("deliver"): grantReader
    case .readOnly where error.message.contains("requests for access"): grantRequester
    case .unsupportedFeature where error.message.contains("no schema for vaults"):
      "\"secretprefs postgres init\" creates the schema"
    case .io where error.errno == EACCES: grantReader
    case .readOnly where error.message.contains("may not write vaults"): grantWriter
    case .unreachable where error.message.contains("refused the role"):
      "libpq finds a password in ~/.pgpass or $PGPASSFILE, and certificates in ~/.postgresql"
    case .unreachable: "nothing was changed; try again when the database can be reached"
    case .lockTimeout: "another process is writing; try again, or wait longer with --lock-timeout"
    case .durabilityUnknown: "check whether the change was made before you repeat it"
    case .limitExceeded where error.message.contains("requests for access"):
      "an owner grants or removes some of them: secretprefs requests"
    case .limitExceeded: "remove data that is not needed"
    default: nil
    }
  }
}
