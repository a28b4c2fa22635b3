internal import VaultSealing

/// Opens values outside the handle's lock. One caller at a time; a handle keeps idle ones.
final class ValueOpener: @unchecked Sendable {
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
  func open(_ name: borrowing RecordName, _ body: (UnsafeRawBufferPointer) -> Void) throws(VaultError) {
    defer { forget() }
    guard let place else { throw VaultError(.locked, "nothing to open") }
    try place.open(
      sealed.span.extracting(..<count), kind, previous: revision, of: name,
      deviceKey: deviceKey, sealer, body)
  }

  private func forget() {
    (place, deviceKey) = (nil, nil)
    // A reader that opened something huge does not keep its buffer.
    if sealed.bytes.count > 1 << 20 { sealed = WipedBuffer(count: 1024) }
  }
}
