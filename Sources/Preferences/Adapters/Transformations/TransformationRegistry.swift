import Synchronization

/// Transformations by name, for programs that select a transformation by a name from a configuration.
///
/// Every member can be used from any thread.
public final class TransformationRegistry: Sendable {
  private let transformations = Mutex<[String: any Sendable]>([:])

  /// The registry of the program.
  public static let shared = TransformationRegistry()

  /// Creates an empty registry.
  public init() {}

  /// Registers a transformation under `name`, replacing any previous one.
  public func register<Stored, Value>(
    _ transformation: some PreferenceTransformation<Stored, Value>, named name: String
  ) {
    let transformation = TwoWayTransformation(transformation)
    replace(name, with: transformation)
  }

  /// The transformation with this name; `nil` if there is none.
  ///
  /// - Throws: `PreferencesError.Code.typeMismatch` if the transformation converts between different types.
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

  /// Removes the transformation with this name.
  public func unregister(_ name: String) { replace(name, with: nil) }

  private func replace(_ name: String, with new: (any Sendable)?) {
    // The old one ends outside the lock, because its end may use this registry.
    let old = transformations.withLock { transformations in
      defer { transformations[name] = new }
      return transformations[name]
    }
    withExtendedLifetime(old) {}
  }

  /// The names, in ascending order.
  public var names: [String] { transformations.withLock { Array($0.keys) }.sorted() }
}
