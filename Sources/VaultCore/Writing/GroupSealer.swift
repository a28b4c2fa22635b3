internal import VaultSealing

/// A sealed value, with the record class and keys for which it was sealed.
struct SealedValue: Sendable {
  let kind: UInt8
  let place: ValuePlace
  let bytes: [UInt8]
}

/// Seals values for the records of one access group. It holds the keys, so sealing needs no lock.
struct GroupSealer {
  /// One for each accessibility class.
  private let places: [ValuePlace]
  let deviceKey: SealingKey?
  private let limit: Int
  let sealer: Sealer

  init(_ content: GroupContent, _ options: Vault.Options, _ sealer: Sealer) throws(VaultError) {
    var places: [ValuePlace] = []
    for accessibility in Vault.Accessibility.allCases { places.append(try content.place(accessibility, sealer)) }
    (self.places, deviceKey, limit, self.sealer) = (places, options.deviceKey, options.limits.writtenValueBytes, sealer)
  }

  /// Refuses a value that is too large or does not fit its kind.
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/typeMismatch``.
  func check(_ value: RawSpan, _ kind: ValueKind) throws(VaultError) {
    guard value.byteCount <= limit else {
      throw VaultError(.valueTooLarge, "the value has \(value.byteCount) bytes; the limit is \(limit)")
    }
    guard kind.rawValue != 0, kind.fits(value) else {
      throw VaultError(.typeMismatch, "the bytes are not a valid value of this kind")
    }
  }

  /// The keys and ids with which values of a class are sealed.
  func place(_ accessibility: Vault.Accessibility) -> ValuePlace { places[Int(accessibility.rawValue)] }
}
