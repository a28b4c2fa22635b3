internal import VaultSealing

/// Opens values outside the handle's lock. Used by one caller at a time; the handle keeps idle openers.
final class ValueOpener: @unchecked Sendable {
  // Unchecked: passed from one caller to the next under the handle's lock.
  let sealer: Sealer
  private var sealed = WipedBuffer(count: 1024)
  private var count = 0
  private(set) var kind: UInt8 = 0
  private var place: ValuePlace?
  private var deviceKey: SealingKey?
  /// The revision of an earlier value to open; `nil` for the current one.
  private var revision: UInt64?

  init(random: RandomSource) throws(VaultError) {
    sealer = try Sealer(random: random)
  }

  /// Copies everything needed to open a record's value. Called under the handle's lock.
  func take(_ record: Record, previous: PreviousValue? = nil, at place: ValuePlace, deviceKey: SealingKey?) {
    let source = previous?.sealed ?? record.sealedValue
    if source.count > sealed.bytes.count { sealed = WipedBuffer(count: source.count) }
    sealed.bytes.copyMemory(from: source)
    count = source.count
    kind = previous?.kind ?? record.kind
    revision = previous?.revision
    (self.place, self.deviceKey) = (place, deviceKey)
  }

  /// Opens the copied value and lends it to `body`, outside the lock. The bytes are in locked memory and are wiped
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
    // A large buffer is not kept after the read.
    if sealed.bytes.count > 1 << 20 { sealed = WipedBuffer(count: 1024) }
  }
}
