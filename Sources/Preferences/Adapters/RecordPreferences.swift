/// Preferences in storage of your own, such as a database row: three closures list, read and write the values.
///
/// Several changes are made one after another. If one fails, the changes before it are undone. Observers are notified
/// of changes made through this store. Writes run one at a time; reads run concurrently with them.
public final class RecordPreferences: PreferencesStore {
  public let name: String
  private let writes = ReentrantWrites()
  private let reader: KeysPreferences
  private let write: @Sendable (PreferenceValue?, String) throws -> Void

  /// - Parameters:
  ///   - isSealed: whether the values are stored sealed.
  ///   - keys: returns the keys that have a value.
  ///   - get: returns the value of a key; `nil` if it has none.
  ///   - set: stores a value or, with `nil`, removes the value. If it throws, it must leave the old value intact.
  public init(
    name: String = "record", isSealed: Bool = false, keys: @escaping @Sendable () throws -> [String],
    get: @escaping @Sendable (String) throws -> PreferenceValue?,
    set: @escaping @Sendable (PreferenceValue?, String) throws -> Void
  ) {
    self.name = name
    write = set
    reader = KeysPreferences(name: name, isSealed: isSealed, keys: keys, value: get)
  }

  public var custody: Custody { reader.custody }

  /// - Throws: the error of the closure.
  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try reader.value(for: query) }

  /// - Throws: the error of the closure.
  public func names(of secrecy: Secrecy) throws -> [PreferenceName] { try reader.names(of: secrecy) }

  /// - Throws: the errors of the closures.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try writes.apply(edits, in: self) { value, name in try write(value, name.text) }
  }

  /// The asynchronous form of `apply(_:)`; calls the closures on a separate thread.
  ///
  /// - Throws: the errors of the closures.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try await BlockingWork.run { try apply(edits) }
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    writes.changes.observe(notify)
  }
}

extension RecordPreferences: CustomStringConvertible, CustomReflectable {}
