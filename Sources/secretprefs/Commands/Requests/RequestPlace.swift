internal import VaultCore

/// Where machines leave requests for access to a vault: a folder, or the table of a database.
protocol RequestPlace: Sendable {
  /// The requests, the oldest first.
  /// - Throws: ``VaultError`` if they cannot be read.
  func contents() throws -> RequestContents

  /// The requests among which a choice is made, also those that it alone leads to.
  /// - Throws: ``VaultError`` if they cannot be read.
  func contents(for choice: RequestChoice) throws -> RequestContents

  /// Leaves a request, in place of the one with the same public key.
  func add(_ publicKey: VaultIdentity.PublicKey, note: String) throws -> AddedRequest

  /// Removes requests, which all have one public key. Those that are gone already do not count as a failure.
  /// - Returns: the names of those that were removed, as ``AddedRequest/name`` has them.
  func remove(_ requests: [Request]) throws -> [String]
}

extension RequestPlace {
  func contents(for choice: RequestChoice) throws -> RequestContents { try contents() }
}

/// What ``RequestPlace/contents()`` finds.
struct RequestContents {
  /// More than an owner reads. The limit keeps a place that others fill from filling the memory.
  static let most = 1_000

  var requests: [Request] = []
  /// What is there and is no request, with the reasons. The names are those of messages.
  var refused: [(name: String, reason: String)] = []
  /// What this user may not read, with the reasons. Each may be a request.
  var unread: [(name: String, reason: String)] = []
  /// Whether everything was looked at.
  var isWhole = true
  /// What is there, in messages: "the folder".
  let place: String
  /// What it has, one of many: "file".
  let part: String
}

/// A request that was left.
struct AddedRequest {
  /// The path of the file, or the role that left it.
  let name: String
  /// What the user should know about the place.
  var remark: String?
}
