public import Preferences

/// A type whose name begins the names of preferences, nested as the types are.
///
/// ```swift
/// enum Shop: PreferenceNamespace {
///   enum Server: PreferenceNamespace {
///     typealias Parent = Shop
///     static var port: PreferenceKey<Int> { key("port", default: 8080) }  // shop.server.port
///   }
/// }
/// ```
public protocol PreferenceNamespace {
  /// The namespace around this one; none unless it is named.
  associatedtype Parent: PreferenceNamespace = RootNamespace

  /// This namespace's own part: the type's name with a small first letter, unless it says otherwise.
  static var segment: String { get }
  /// What stands before every name: the parent's prefix, the segment and a dot, unless it says otherwise.
  static var prefix: String { get }
}

extension PreferenceNamespace {
  /// The type's name with a small first letter.
  public static var segment: String {
    // Without what a generic type is made of.
    let name = String(describing: Self.self).prefix { $0 != "<" }
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  /// That of the parent, the segment and a dot.
  public static var prefix: String { "\(Parent.prefix)\(segment)." }

  /// A key of this namespace that reads as `defaultValue` while it is not set.
  public static func key<Value: PreferenceConvertible>(
    _ name: String, default defaultValue: Value
  ) -> PreferenceKey<Value> {
    PreferenceKey(prefix + name, default: defaultValue)
  }

  /// A key of this namespace that reads as nil while it is not set.
  public static func key<Value: PreferenceConvertible>(
    _ name: String, of type: Value.Type = Value.self
  ) -> PreferenceKey<Value?> {
    PreferenceKey(prefix + name)
  }
}

/// The namespace around all others. It has no name.
public enum RootNamespace: PreferenceNamespace {
  public typealias Parent = RootNamespace
  /// Nothing.
  public static var prefix: String { "" }
}

extension PreferencesReader {
  /// The keys of a namespace, under names without its prefix.
  public func below<Namespace: PreferenceNamespace>(_ namespace: Namespace.Type) -> PreferencesView<Self> {
    below(namespace.prefix)
  }
}
