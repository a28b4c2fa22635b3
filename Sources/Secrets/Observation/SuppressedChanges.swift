/// The changes of one service that were made under `withoutObservation` and that no other writer has changed since: the
/// newest ones, so that an observer of an older one may be notified of it when the whole vault may have changed.
struct SuppressedChanges {
  private struct Change {
    /// The generation that the write had made.
    let revision: UInt64
    let isRemoval: Bool
    let number: Int
  }

  static let limit = 4_096

  private var changes: [String: Change] = [:]
  private var lastNumber = 0

  var keys: Set<String> { Set(changes.keys) }
  var count: Int { changes.count }

  func contains(_ key: String) -> Bool { changes[key] != nil }

  /// Adds a change, unless a later one is known.
  mutating func add(_ key: String, revision: UInt64, isRemoval: Bool) {
    if let known = changes[key], known.revision > revision { return }
    lastNumber += 1
    changes[key] = Change(revision: revision, isRemoval: isRemoval, number: lastNumber)
    guard changes.count > Self.limit else { return }
    // The older half at once, which costs each addition little.
    let newest = changes.values.map(\.number).sorted()[Self.limit / 2]
    changes = changes.filter { $0.value.number > newest }
  }

  mutating func remove(_ key: String) { changes[key] = nil }

  /// Whether the record is still as the change left it.
  ///
  /// - Parameter revision: the present one; `nil` if the record does not exist.
  func isPresent(_ key: String, _ revision: UInt64?) -> Bool {
    guard let change = changes[key] else { return false }
    return change.isRemoval ? revision == nil : revision == change.revision
  }
}
