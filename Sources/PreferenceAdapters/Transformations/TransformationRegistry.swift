public import Preferences

import Synchronization

/// Transformations by name, for programs that read from elsewhere which one to use.
///
/// Calls may come from any thread.
public final class TransformationRegistry: Sendable {
  private let transformations = Mutex<[String: any Sendable]>([:])

  /// The registry of the program.
  public static let shared = TransformationRegistry()

  /// Creates an empty registry.
  public init() {}

  /// Names a transformation; another of that name is replaced.
  public func register<Stored, Value>(
    _ transformation: some PreferenceTransformation<Stored, Value>, named name: String
  ) {
    let transformation = TwoWayTransformation(transformation)
    transformations.withLock { $0[name] = transformation }
  }

  /// The transformation of that name; nil when there is none.
  ///
  /// - Throws: `PreferencesError.Code.typeMismatch` when it is between other types.
  public func transformation<Stored, Value>(
    named name: String, from stored: Stored.Type = Stored.self, to value: Value.Type = Value.self
  ) throws(PreferencesError) -> TwoWayTransformation<Stored, Value>? {
    guard let found = transformations.withLock({ $0[name] }) else { return nil }
    guard let transformation = found as? TwoWayTransformation<Stored, Value> else {
      throw PreferencesError(
        .typeMismatch, "transformation \"\(name)\" is not between \(Stored.self) and \(Value.self)")
    }
    return transformation
  }

  /// Forgets the transformation of that name.
  public func unregister(_ name: String) {
    transformations.withLock { $0[name] = nil }
  }

  /// The names, in ascending order.
  public var names: [String] { transformations.withLock { Array($0.keys) }.sorted() }
}
