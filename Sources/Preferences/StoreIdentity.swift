/// Identifies the underlying storage. Two readers of the same storage have equal identities.
///
/// An object is itself. A reader that is a value says which storage it means by conforming to `Identifiable`; one that does
/// not is taken for every other of its type and name.
public struct StoreIdentity: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case object(ObjectIdentifier)
    case type(ObjectIdentifier, name: String)
  }

  private let parts: [Part]

  /// The identity of `reader`. Valid while the objects underneath are alive.
  public init(of reader: any PreferencesReader) {
    if let reader = reader as? any Identifiable<StoreIdentity> {
      self = reader.id
    } else if type(of: reader) is AnyClass {
      parts = [.object(ObjectIdentifier(reader as AnyObject))]
    } else {
      parts = [.type(ObjectIdentifier(type(of: reader)), name: reader.name)]
    }
  }

  /// The identity of `object`. Valid while the object is alive.
  public init(_ object: AnyObject) { parts = [.object(ObjectIdentifier(object))] }

  /// The identity of a reader that is a value, over the storage of others.
  ///
  /// - Parameter name: tells apart the readers of a type over the same others.
  public init(_ type: Any.Type, name: String = "", over others: [StoreIdentity] = []) {
    parts = [.type(ObjectIdentifier(type), name: name)] + others.flatMap(\.parts)
  }
}

extension PreferencesReader {
  /// Identifies the underlying storage.
  public var identity: StoreIdentity { StoreIdentity(of: self) }
}
