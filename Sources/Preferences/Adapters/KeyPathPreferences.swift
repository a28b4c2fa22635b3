/// Preferences in the properties of an object, under the names of a table.
///
/// ```swift
/// let store = KeyPathPreferences(settings, [
///   "server.port": .writable(\.port), "proxy.host": .writable(\.proxyHost), "version": .readOnly(\.version),
/// ])
/// ```
///
/// A name that is not in the table reads as absent. Only an optional property can be removed. Observers are notified of
/// changes made through this store.
public final class KeyPathPreferences<Root: Sendable>: PreferencesStore {
  /// A property, and whether it can be written.
  public struct Property: Sendable {
    fileprivate let get: @Sendable (Root) -> PreferenceValue?
    fileprivate let set: (@Sendable (Root, PreferenceValue?) throws(PreferencesError) -> Void)?
    fileprivate let isOptional: Bool
  }

  public let name: String
  private let root: Root
  private let properties: [String: Property]
  private let writes = ReentrantWrites()

  /// Creates a store over properties of `root`. The default name contains the type of `root`.
  public init(_ root: Root, _ properties: [String: Property], name: String? = nil) {
    self.root = root
    self.properties = properties
    self.name = name ?? "properties of \(Root.self)"
  }

  public func value(for query: PreferenceQuery) -> PreferenceValue? { properties[query.name.text]?.get(root) }

  /// The names whose property has a value, in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    PreferenceName.valid(properties.filter { $0.value.get(root) != nil }.keys.sorted())
  }

  /// Sets properties; a removal sets a property to `nil`. If one edit fails, the properties set before it get their old
  /// values back.
  ///
  /// - Throws: `PreferencesError.Code.unknownKey`, `PreferencesError.Code.fixed` for a property that is read-only or
  ///   cannot be `nil`, and the error of the property's type for a value of a different type.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try writes.apply(edits, in: self) { value, name in
      if value == nil, properties[name.text]?.get(root) == nil { return }
      let set = try setter(name.text, removing: value == nil)
      do throws(PreferencesError) { try set(root, value) } catch { throw error.about(key: name.text) }
    }
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    writes.changes.observe(notify)
  }

  private func setter(
    _ key: String, removing: Bool
  ) throws(PreferencesError) -> @Sendable (Root, PreferenceValue?) throws(PreferencesError) -> Void {
    guard let property = properties[key] else {
      throw PreferencesError(.unknownKey, "\(Root.self) has no such property").about(key: key)
    }
    guard let set = property.set, !removing || property.isOptional else {
      throw PreferencesError(.fixed, removing ? "the property cannot be nil" : "the property is read-only")
        .about(key: key)
    }
    return set
  }
}

extension KeyPathPreferences.Property {
  /// A property that is only read.
  public static func readOnly<Value: PreferenceConvertible>(_ path: any KeyPath<Root, Value> & Sendable) -> Self {
    Self(get: { $0[keyPath: path].preferenceValue }, set: nil, isOptional: false)
  }

  /// A property that is only read. While it is `nil`, the preference is absent.
  public static func readOnly<Value: PreferenceConvertible>(_ path: any KeyPath<Root, Value?> & Sendable) -> Self {
    Self(get: { $0[keyPath: path]?.preferenceValue }, set: nil, isOptional: true)
  }

  /// A property that is read and written.
  public static func writable<Value: PreferenceConvertible>(
    _ path: any ReferenceWritableKeyPath<Root, Value> & Sendable
  ) -> Self {
    Self(
      get: { $0[keyPath: path].preferenceValue },
      set: { root, value throws(PreferencesError) in
        if let value { root[keyPath: path] = try Value(preferenceValue: value) }
      },
      isOptional: false)
  }

  /// A property that is read and written. While it is `nil`, the preference is absent.
  public static func writable<Value: PreferenceConvertible>(
    _ path: any ReferenceWritableKeyPath<Root, Value?> & Sendable
  ) -> Self {
    Self(
      get: { $0[keyPath: path]?.preferenceValue },
      set: { root, value throws(PreferencesError) in
        guard let value else {
          root[keyPath: path] = nil
          return
        }
        root[keyPath: path] = try Value(preferenceValue: value)
      },
      isOptional: true)
  }
}

extension KeyPathPreferences: CustomStringConvertible, CustomReflectable {}

extension PreferencesError.Code {
  /// The value cannot be changed, or cannot be removed.
  public static let fixed = Self(rawValue: "fixed")
  /// The store has a fixed set of keys, which does not contain this key.
  public static let unknownKey = Self(rawValue: "unknownKey")
}
