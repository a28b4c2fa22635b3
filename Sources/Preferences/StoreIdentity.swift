/// Which store a reader is, to tell whether two keys or handles mean the same value.
public struct StoreIdentity: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case object(ObjectIdentifier)
    case type(ObjectIdentifier, name: String)
  }

  private let parts: [Part]

  /// That of an object, as long as it lives.
  public init(_ object: AnyObject) { parts = [.object(ObjectIdentifier(object))] }

  /// That of all readers of a type with one name.
  public init(_ type: Any.Type, name: String) { parts = [.type(ObjectIdentifier(type), name: name)] }

  /// That of a reader of a type over others, such as a view with a prefix.
  public init(_ type: Any.Type, name: String = "", over others: [StoreIdentity]) {
    parts = [.type(ObjectIdentifier(type), name: name)] + others.flatMap(\.parts)
  }
}
