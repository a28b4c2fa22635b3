public import Preferences

/// A type whose name is the prefix of preference names. Nested namespaces have nested prefixes.
///
/// ```swift
/// enum Shop: PreferenceNamespace {
///   enum Server: PreferenceNamespace {
///     typealias Parent = Shop
///     static let port = key("port", default: 8080)  // shop.server.port
///   }
/// }
/// ```
public protocol PreferenceNamespace {
  /// The enclosing namespace. The default is the root namespace, which has no name.
  associatedtype Parent: PreferenceNamespace = RootNamespace

  /// The part of the prefix that this namespace adds. The default is the type's name with a lowercase first letter.
  static var segment: String { get }
  /// The prefix of every name. The default is the parent's prefix, the segment and a dot.
  static var prefix: String { get }
}

extension PreferenceNamespace {
  /// The type's name with a lowercase first letter.
  public static var segment: String {
    // Without generic arguments.
    let name = String(describing: Self.self).prefix { $0 != "<" }
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  /// The parent's prefix, the segment and a dot.
  public static var prefix: String { "\(Parent.prefix)\(segment)." }

  /// The full name of a preference of this namespace, for keys that are created in other ways, such as those of secrets
  /// and of `Codable` types.
  ///
  /// ```swift
  /// static let token = PreferenceKey<Secret<String>?>(name("token"))
  /// ```
  public static func name(_ name: String) -> String { prefix + name }

  /// A key of this namespace that reads as `defaultValue` while it is not set.
  public static func key<Value: PreferenceConvertible>(
    _ name: String, default defaultValue: Value
  ) -> PreferenceKey<Value> {
    PreferenceKey(Self.name(name), default: defaultValue)
  }

  /// A key of this namespace that reads as `nil` while it is not set.
  public static func key<Value: PreferenceConvertible>(
    _ name: String, of type: Value.Type = Value.self
  ) -> PreferenceKey<Value?> {
    PreferenceKey(Self.name(name))
  }
}

/// The root of all namespaces. It has no name.
public enum RootNamespace: PreferenceNamespace {
  public typealias Parent = RootNamespace
  /// The empty string.
  public static var prefix: String { "" }
}

extension PreferencesReader {
  /// The keys of a namespace, under names without the prefix of the namespace.
  public func below<Namespace: PreferenceNamespace>(_ namespace: Namespace.Type) -> PreferencesView<Self> {
    below(namespace.prefix)
  }
}
