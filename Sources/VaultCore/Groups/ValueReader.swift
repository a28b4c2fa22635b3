internal import VaultSealing

/// Opens values outside the handle's lock. One caller at a time; a handle keeps idle ones.
final class ValueReader: @unchecked Sendable {
  // Unchecked: passed from one caller to the next under the handle's lock.
  let sealer: Sealer
  private var sealed = WipedBuffer(count: 1024)
  private var count = 0
  private(set) var kind: UInt8 = 0
  private var place: ValuePlace?
  private var deviceKey: SealingKey?
  /// Set when a previous value is to be opened instead of the current one.
  private var revision: UInt64?

  init(random: RandomSource) throws(VaultError) {
    sealer = try Sealer(random: random)
  }

  /// Copies what is needed to open a record's value, under the handle's lock.
  func take(_ record: Record, previous: PreviousValue? = nil, at place: ValuePlace, deviceKey: SealingKey?) {
    let source = previous?.sealed ?? record.sealedValue
    if source.count > sealed.bytes.count { sealed = WipedBuffer(count: source.count) }
    sealed.bytes.copyMemory(from: source)
    count = source.count
    kind = previous?.kind ?? record.kind
    revision = previous?.revision
    (self.place, self.deviceKey) = (place, deviceKey)
  }

  /// Opens what was taken and lends it to `body`, outside the lock. The bytes are locked in memory and wiped
  /// afterwards.
  func open(_ name: RecordName, _ body: (UnsafeRawBufferPointer) -> Void) throws(VaultError) {
    defer { forget() }
    guard let place else { throw VaultError(.locked, "nothing to open") }
    let key = place.classKey
    let sealed = UnsafeRawBufferPointer(rebasing: self.sealed.bytes[..<count])
    let (kind, revision) = (kind, revision)
    let context =
      if let revision {
        Context.previous(service: name.service, key: name.key, kind: kind, revision: revision)
      } else {
        Context.value(service: name.service, key: name.key, kind: kind)
      }
    if !place.accessibility.isThisDeviceOnly {
      return try lend(sealed, key, context, refusal: .tampered("a value"), body)
    }
    // Two seals, so the inner one rests in a block of its own while it is opened.
    var inner = try SecretBytes(count: sealed.count - Sealer.overhead)
    guard inner.withUnsafeMutableBytes({ sealer.open(sealed, with: key, as: context, into: $0) }) else {
      throw .tampered("a value")
    }
    guard let deviceKey else { throw .deviceKeyMissing }
    try deviceKey.origin.check()
    let device = place.device(name, kind)
    return try inner.withUnsafeBytes { (inner) throws(VaultError) in
      try lend(
        inner, deviceKey, device,
        refusal: VaultError(.wrongDevice, "the value is bound to another device key"), body)
    }
  }

  private func lend(
    _ sealed: UnsafeRawBufferPointer, _ key: SealingKey, _ context: Context, refusal: @autoclosure () -> VaultError,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) {
    var fits = false
    let kind = ValueKind(rawValue: kind)
    let isOpen = try sealer.withOpened(sealed, with: key, context: { context.write(to: &$0) }) { value in
      fits = kind.fits(value)
      if fits { body(value) }
    }
    guard isOpen else { throw refusal() }
    guard fits else { throw .malformed("a value that does not fit its kind") }
  }

  private func forget() {
    (place, deviceKey) = (nil, nil)
    // A reader that opened something huge does not keep its buffer.
    if sealed.bytes.count > 1 << 20 { sealed = WipedBuffer(count: 1024) }
  }
}
