/// A key that a command was given, by itself or as a reference.
struct NamedKey {
  let reference: SecretReference
  /// What was given. For errors about a key that the vault has.
  let label: String
  /// The place of the key; `nil` for a reference, which names its own.
  private(set) var place: RecordPlace?

  /// A key that the vault has.
  ///
  /// - Parameter isAlone: Whether the key alone says which one it is.
  init(of place: RecordPlace, _ key: String, isAlone: Bool) throws {
    reference = try place.reference(to: key)
    label = isAlone ? key : reference.text
    self.place = place
  }

  /// - Parameter place: That of a key without a reference.
  init(_ text: String, in place: RecordPlace) throws {
    label = text
    if let reference = try SecretReference(argument: text) {
      self.reference = reference
    } else {
      reference = try place.reference(to: text)
      self.place = place
    }
  }
}
