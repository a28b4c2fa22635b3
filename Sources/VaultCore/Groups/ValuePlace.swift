internal import VaultSealing

/// What a value is sealed with and bound to, besides its name and kind: everything of a group that sealing or opening
/// one value needs, so that it can be done outside the handle's lock.
struct ValuePlace: Sendable {
  let accessibility: Vault.Accessibility
  let classKey: SealingKey
  let vaultID: Vault.Identifier
  let groupID: Vault.Identifier

  /// Seals a value as a change of its record.
  /// - Throws: ``VaultError/Code/deviceKeyMissing``.
  func put(
    _ value: UnsafeRawBufferPointer, _ kind: ValueKind, service: Vault.Name, key: Vault.Name, deviceKey: SealingKey?,
    _ sealer: Sealer
  ) throws(VaultError) -> Change {
    var change = Change(service: service, key: key, action: .remove)
    let sealed = try change.withName { (name) throws(VaultError) -> [UInt8] in
      let context = Context.value(service: name.service, key: name.key, kind: kind.rawValue)
      if !accessibility.isThisDeviceOnly { return sealer.sealValue(value, with: classKey, as: context) }
      guard let deviceKey else { throw .deviceKeyMissing }
      try deviceKey.origin.check()
      let inner = sealer.sealValue(value, with: deviceKey, as: device(name, kind.rawValue))
      return inner.withUnsafeBytes { sealer.sealValue($0, with: classKey, as: context) }
    }
    change.action = .put(kind: kind.rawValue, accessibility, sealed: sealed)
    return change
  }

  /// What the device layer of a value is bound to.
  func device(_ name: RecordName, _ kind: UInt8) -> Context {
    .device(vault: vaultID, group: groupID, service: name.service, key: name.key, kind: kind)
  }
}

extension GroupContent {
  /// Where values of a class stand.
  func place(_ accessibility: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> ValuePlace {
    ValuePlace(
      accessibility: accessibility, classKey: try classKey(accessibility, sealer), vaultID: vaultID, groupID: id)
  }
}

extension Sealer {
  fileprivate func sealValue(
    _ value: UnsafeRawBufferPointer, with key: SealingKey, as context: Context
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: value.count + Sealer.overhead) { out, count in
      count = value.count + Sealer.overhead
      seal(
        value, with: key, as: context,
        into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(out)[..<count]))
    }
  }
}

extension VaultError {
  static let deviceKeyMissing = VaultError(
    .deviceKeyMissing, "the value is bound to a device key, and none was given")
}
