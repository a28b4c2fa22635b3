import Foundation
import Testing

/// The PostgreSQL servers that `Scripts/postgres` has started.
enum DatabaseServer {
  /// The last needs no server, but a tool that was built with the trait, as the others do.
  static let stories = ["postgres.txt", "database-requests.txt", "vault-urls.txt"]

  static let isNeeded = ConditionTrait.enabled(
    if: !folders.isEmpty, "needs a PostgreSQL server: run Scripts/postgres")

  /// The variables of transcripts with the folders of the sockets; empty without servers.
  static let folders: [String: String] = {
    let names = [
      "SERVER": "SECRETPREFS_POSTGRES", "REPLICA": "SECRETPREFS_POSTGRES_REPLICA",
      "POOLER": "SECRETPREFS_POSTGRES_POOLER",
    ]
    return names.compactMapValues { ProcessInfo.processInfo.environment[$0] }
  }()

  /// Replaces what differs from server to server.
  static func normal(_ text: String) -> String {
    var text = text
    for (name, folder) in folders {
      text = text.replacing(folder.replacing("/", with: "%2F"), with: "{\(name.lowercased())}")
        .replacing(folder, with: "{\(name.lowercased())}")
    }
    return text.replacing(/(PostgreSQL |"server":")[0-9.]+( \([^)]*\))?/) { $0.output.1 + "{version}" }
      .replacing(/(\bversion |"version":)[0-9]{6,}/) { $0.output.1 + "{version}" }
  }

  /// The URL of a database with the tables, which is made when it is first asked for.
  static func database() throws -> String { try made.get() }

  private static let made = Result {
    let name = "tool_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    let url = "postgresql:///\(name)?host=\(folders["SERVER"] ?? "")&user=postgres"
    let outcome = try Tool.shell(
      """
      PGHOST=$SERVER psql -U postgres -qc 'create database \(name)' && secretprefs postgres init --vault '\(url)'
      """, in: try Scratch())
    guard outcome.exit == 0 else { throw NotMade(text: outcome.errorText) }
    return url
  }

  private struct NotMade: Error { let text: String }
}
