internal import VaultSealing

/// What a value is sealed with and bound to, besides its name and kind: everything of a group that sealing or opening
/// one value needs, so that it can be done outside the handle's lock.
struct ValuePlace: Sendable {
  let accessibility: Vault.Accessibility
  let classKey: SealingKey
  let vaultID: Vault.Identifier
  let groupID: Vault.Identifier

  /// Seals the value of a record; with the device layer where the class has it.
  /// - Throws: ``VaultError/Code/deviceKeyMissing``.
  func seal(
    _ value: RawSpan, _ kind: ValueKind, for name: borrowing RecordName, deviceKey: SealingKey?,
    _ sealer: Sealer
  ) throws(VaultError) -> [UInt8] {
    guard accessibility.isThisDeviceOnly else {
      sealer.bind(to: .value(service: name.service, key: name.key, kind: kind.rawValue))
      return sealer.seal(value, with: classKey)
    }
    sealer.bind(to: device(name, kind.rawValue))
    let inner = sealer.seal(value, with: try Self.present(deviceKey))
    sealer.bind(to: .value(service: name.service, key: name.key, kind: kind.rawValue))
    return sealer.seal(inner.span.bytes, with: classKey)
  }

  /// Lends a value, opened into locked memory and wiped afterwards.
  ///
  /// - Parameter revision: of an earlier value; nil for the record's current one.
  /// - Throws: ``VaultError/Code/tampered``, ``VaultError/Code/deviceKeyMissing``, ``VaultError/Code/wrongDevice``,
  ///   ``VaultError/Code/malformed`` when the value does not fit its kind.
  func open(
    _ sealed: RawSpan, _ kind: UInt8, previous revision: UInt64?, of name: borrowing RecordName,
    deviceKey: SealingKey?, _ sealer: Sealer, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) {
    if let revision {
      sealer.bind(to: .previous(service: name.service, key: name.key, kind: kind, revision: revision))
    } else {
      sealer.bind(to: .value(service: name.service, key: name.key, kind: kind))
    }
    var fits = false
    func use(_ value: UnsafeRawBufferPointer) {
      fits = ValueKind(rawValue: kind).fits(value)
      if fits { body(value) }
    }
    if accessibility.isThisDeviceOnly {
      // Two seals, so the inner one rests in a block of its own while it is opened.
      var inner = try SecretBytes(count: sealed.byteCount - Sealer.overhead)
      guard inner.withUnsafeMutableBytes({ sealer.open(sealed, with: classKey, into: $0) }) else {
        throw .tampered("a value")
      }
      let deviceKey = try Self.present(deviceKey)
      sealer.bind(to: device(name, kind))
      let isOpen = try inner.withSpan { (inner) throws(VaultError) in
        try sealer.withOpened(inner, with: deviceKey, use)
      }
      guard isOpen else { throw VaultError(.wrongDevice, "the value is bound to another device key") }
    } else {
      guard try sealer.withOpened(sealed, with: classKey, use) else { throw .tampered("a value") }
    }
    guard fits else { throw .malformed("a value that does not fit its kind") }
  }

  /// What the device layer of a value is bound to.
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
