public import Preferences

/// Preferences kept in something else, such as the row of a database: three closures list, read and write it.
///
/// Several changes are made one after another; when one fails, those before it are taken back. Observers receive what is
/// changed here. One write runs at a time, and reads run beside it.
public final class RecordPreferences: PreferencesStore {
  public let name: String
  private let writing = RecursiveLock()
  private let reader: KeysPreferences
  private let write: @Sendable (PreferenceValue?, String) throws -> Void
  private let changes = ChangeBroadcast()

  /// - Parameters:
  ///   - isSealed: whether the values are sealed where they are kept.
  ///   - keys: the keys that have a value.
  ///   - get: the value of a key; nil for none.
  ///   - set: stores a value or, with nil, removes it. When it throws, the old value is to be there still.
  public init(
    name: String = "record", isSealed: Bool = false, keys: @escaping @Sendable () throws -> [String],
    get: @escaping @Sendable (String) throws -> PreferenceValue?,
    set: @escaping @Sendable (PreferenceValue?, String) throws -> Void
  ) {
    (self.name, write) = (name, set)
    reader = KeysPreferences(name: name, isSealed: isSealed, keys: keys, value: get)
  }

  public var custody: Custody { reader.custody }

  /// - Throws: what the closure throws.
  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try reader.value(for: query) }

  /// - Throws: what the closure throws.
  public func names(of secrecy: Secrecy) throws -> [PreferenceName] { try reader.names(of: secrecy) }

  /// - Throws: what the closures throw.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let (outcome, changed) = try writing.withLock {
      try edits.applyOneByOne(in: self) { value, name in try write(value, name.text) }
    }
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
    return outcome
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }
}

extension RecordPreferences: CustomStringConvertible, CustomReflectable {}
