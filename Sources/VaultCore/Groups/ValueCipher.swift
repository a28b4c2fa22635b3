internal import VaultSealing

/// The class, key and ids with which a value is sealed, besides its name and kind: everything of a group that is needed
/// to seal or open a value outside the handle's lock.
///
/// A class, because each read passes it on: one reference is cheaper to copy than its fields.
final class ValueCipher: Sendable {
  let accessibility: Vault.Accessibility
  let classKey: SealingKey
  /// The keys for logging reads; `nil` if they are not logged.
  let audit: AuditKeys?
  private let vaultID: Vault.Identifier
  private let groupID: Vault.Identifier

  init(
    accessibility: Vault.Accessibility, classKey: SealingKey, vaultID: Vault.Identifier, groupID: Vault.Identifier,
    audit: AuditKeys?
  ) {
    self.accessibility = accessibility
    self.classKey = classKey
    self.vaultID = vaultID
    self.groupID = groupID
    self.audit = audit
  }

  /// Seals the value of a record, with the device layer if the class has one.
  ///
  /// - Parameter revision: the revision of an earlier value; `nil` for the current one.
  /// - Throws: ``VaultError/Code/deviceKeyMissing``.
  func seal(
    _ value: RawSpan, _ kind: ValueKind, previous revision: UInt64? = nil, for name: borrowing RecordName,
    deviceKey: SealingKey?, _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    guard accessibility.isThisDeviceOnly else {
      sealer.bind(to: outer(name, kind.rawValue, revision))
      return sealer.seal(value, with: classKey)
    }
    sealer.bind(to: device(name, kind.rawValue))
    let inner = sealer.seal(value, with: try Self.present(deviceKey))
    sealer.bind(to: outer(name, kind.rawValue, revision))
    return sealer.seal(inner.bytes, with: classKey)
  }

  /// Opens a value in locked memory and seals it for a different class, group or name.
  ///
  /// - Parameters:
  ///   - revision: the revision of an earlier value; `nil` for the current one.
  ///   - newRevision: the same of the value that is sealed.
  /// - Throws: as ``open(_:_:previous:of:deviceKey:_:_:)``.
  func resealed(
    _ sealed: RawSpan, _ kind: UInt8, previous revision: UInt64? = nil, to cipher: ValueCipher,
    as newRevision: UInt64? = nil, of name: borrowing RecordName, for newName: borrowing RecordName,
    deviceKey: SealingKey?, _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    var result: Result<[UInt8], VaultError>?
    try open(sealed, kind, previous: revision, of: name, deviceKey: deviceKey, sealer) { value in
      result = Result { () throws(VaultError) in
        try cipher.seal(
          value, ValueKind(rawValue: kind), previous: newRevision, for: newName, deviceKey: deviceKey, sealer)
      }
    }
    guard let result else { throw .tampered("a value does not verify") }
    return try result.get()
  }

  /// Opens a value in locked memory, lends it to the closure and wipes it.
  ///
  /// - Parameter revision: the revision of an earlier value; `nil` for the current one.
  /// - Throws: ``VaultError/Code/tampered``, ``VaultError/Code/deviceKeyMissing``, ``VaultError/Code/wrongDevice``,
  ///   ``VaultError/Code/malformed`` if the value does not fit its kind.
  func open(
    _ sealed: RawSpan, _ kind: UInt8, previous revision: UInt64?, of name: borrowing RecordName,
    deviceKey: SealingKey?, _ sealer: Sealer, _ body: (RawSpan) -> Void
  ) throws(VaultError) {
    sealer.bind(to: outer(name, kind, revision))
    let kind = ValueKind(rawValue: kind)
    let isFit: Bool
    if accessibility.isThisDeviceOnly {
      // The value has two seals. The inner one is in a separate block while it is opened.
      guard let inner = try sealer.opened(sealed, with: classKey) else { throw .tampered("a value does not verify") }
      let deviceKey = try Self.present(deviceKey)
      sealer.bind(to: device(name, kind.rawValue))
      let result = try inner.withSpan { (inner) throws(VaultError) in
        try sealer.withOpened(inner, with: deviceKey, if: { kind.fitsUnwiped($0) }, body)
      }
      guard let result else { throw VaultError(.wrongDevice, "the value is bound to another device key") }
      isFit = result
    } else {
      guard let result = try sealer.withOpened(sealed, with: classKey, if: { kind.fitsUnwiped($0) }, body) else {
        throw .tampered("a value does not verify")
      }
      isFit = result
    }
    guard isFit else { throw .malformed("a value that does not fit its kind") }
  }

  /// The context of a value, or of an earlier value, without the device layer.
  @_lifetime(copy name)
  private func outer(_ name: borrowing RecordName, _ kind: UInt8, _ revision: UInt64?) -> Context {
    guard let revision else { return .value(service: name.service, key: name.key, kind: kind) }
    return .previous(service: name.service, key: name.key, kind: kind, revision: revision)
  }

  /// The context of a value's device layer.
  @_lifetime(copy name)
  private func device(_ name: borrowing RecordName, _ kind: UInt8) -> Context {
    .device(vault: vaultID, group: groupID, service: name.service, key: name.key, kind: kind)
  }

  private static func present(_ deviceKey: SealingKey?) throws(VaultError) -> SealingKey {
    guard let deviceKey else {
      throw VaultError(.deviceKeyMissing, "the value is bound to a device key, and none was given")
    }
    try deviceKey.origin.check()
    return deviceKey
  }
}
