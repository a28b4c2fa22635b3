#if PostgreSQL
  internal import DurableFiles
  internal import VaultCore

  /// Why the statements of one round trip have no result.
  enum QueryFailure: Error {
    /// The server refused one of them, so none was made. `state` is the server's SQLSTATE.
    case refused(state: String)
    /// The connection was lost: it is unknown whether they were made.
    case lost

    var isLost: Bool { if case .lost = self { true } else { false } }
    func isRefused(_ state: String) -> Bool { if case .refused(state) = self { true } else { false } }
  }

  /// What statements are for.
  enum QueryPurpose { case reading, writing, logging, requesting }

  extension PostgresLocation {
    /// The error of failed statements. It never contains the server's text, which may contain parameters.
    func error(_ failure: QueryFailure, _ purpose: QueryPurpose) -> VaultError {
      guard case .refused(let state) = failure else {
        return error(.unreachable, "the connection to the database was lost")
      }
      switch state {
      case "3F000", "42P01":
        return error(
          .unsupportedFeature, "the database has no schema for vaults: its owner creates it with PostgresSchema.script",
          .noSchema)
      case "42703", "42883":
        return error(.unsupportedVersion, "the schema secretprefs of the database has other columns than this version")
      case "42501":
        if purpose == .logging {
          return error(
            .readOnly,
            "the role may not deliver and read logs: grant it select and insert on the table log of the schema "
              + "secretprefs", errno: EACCES, .logging)
        }
        if purpose == .requesting {
          return error(
            .readOnly,
            "the role may not leave and see requests for access: grant it what PostgresSchema.grant(.requester) says",
            errno: EACCES, .requesting)
        }
        guard purpose == .writing else {
          return error(
            .io, "the role may not read vaults: grant it usage on the schema secretprefs and select on its tables",
            errno: EACCES, .reading)
        }
        return error(
          .readOnly,
          "the role may not write vaults: grant it select, insert, update and delete on the tables vault and "
            + "piece of the schema secretprefs", errno: EACCES, .writing)
      case "25006":
        return error(
          .readOnly,
          "the server is a replica or allows no writing: name the primary, or all servers with "
            + "target_session_attrs=read-write", errno: EROFS)
      case "55P03": return error(.lockTimeout, "another writer has held the lock")
      case "25P03":
        return error(
          .lockTimeout, "this writer held the lock for too long without doing anything, and the server has ended it")
      case "40P01": return error(.lockTimeout, "the server ended a deadlock with another writer")
      case "57014": return error(.unreachable, "the server ended a statement that took too long")
      case "53100": return error(.io, "the disk of the database is full", errno: ENOSPC)
      case "53200": return error(.io, "the server has no memory", errno: ENOMEM)
      case "22003", "23505":
        // A number that no vault has, or a piece where none is.
        return error(.damaged, VaultRow.broken.message)
      case "22012":
        return error(
          .io, "the database kept the written bytes from being stored, by a trigger or a rule of its tables", errno: EIO
        )
      case "XX001", "XX002": return error(.damaged, "the server reports damaged pages: restore the database")
      case _ where state.hasPrefix("08") || state.hasPrefix("57P"):
        return error(.unreachable, "the connection to the database was lost")
      default:
        let isPlain = state.utf8.count == 5 && state.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x5A }
        return error(.io, "the server refused a statement (SQLSTATE \(isPlain ? state : "unknown"))", errno: EIO)
      }
    }

    /// The error of a connection that could not be made, with what libpq or the server says. What is in quotes in it
    /// comes from the URL or the server, and may be a password in a wrong place. It may have quotes itself, so
    /// everything from the first quote to the last is left out, and all of the rest if one is not closed.
    func unreachable(_ text: String) -> VaultError {
      let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      let isPlain = line.utf8.count <= 400 && line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      let end = parts.count % 2 == 1 ? String(parts[parts.count - 1]) : ""
      let shown = parts.count == 1 ? line : String(parts[0]) + "…" + end
      let reason = isPlain ? shown : "no reason"
      // Other texts with "SSL" are about a connection that broke.
      let unquoted = parts.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      if unquoted.contains(where: { $0.contains("authentication failed") || $0.contains("no password supplied") }) {
        return error(
          .unreachable,
          "the server refused the role: its password is wrong or missing (PGPASSFILE), or its certificate",
          .authentication)
      }
      if isPlain, unquoted.contains(where: { $0.contains("certificate") || $0.contains("does not support SSL") }) {
        return error(
          .insecurePermissions,
          "the server was not verified (\(reason)): sslrootcert names the file of the certificate "
            + "authority, and the server needs TLS")
      }
      return error(.unreachable, "the database cannot be reached (\(reason))")
    }
  }
#endif
