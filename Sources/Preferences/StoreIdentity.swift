/// Identifies the underlying storage. Two readers of the same storage have equal identities.
///
/// An object is identified by its reference. A value type identifies its storage by conforming to `Identifiable`;
/// without that, readers with the same type and name have equal identities.
public struct StoreIdentity: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case object(ObjectIdentifier)
    case type(ObjectIdentifier, name: String)
  }

  private let parts: [Part]

  /// The identity of `reader`. Valid while the objects underneath are alive.
  init(of reader: any PreferencesReader) {
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

  /// The identity of a value type over the storage of other readers.
  ///
  /// - Parameter name: distinguishes readers of the same type over the same storage.
  public init(_ type: Any.Type, name: String = "", over others: [StoreIdentity] = []) {
    parts = [.type(ObjectIdentifier(type), name: name)] + others.flatMap(\.parts)
  }
}

extension PreferencesReader {
  /// Identifies the underlying storage.
  public var identity: StoreIdentity { StoreIdentity(of: self) }
}
