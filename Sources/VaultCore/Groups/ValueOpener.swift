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
  func take(_ record: Record, at place: ValuePlace, deviceKey: SealingKey?) {
    take(record.sealedValue, record.kind, previous: nil, at: place, deviceKey)
  }

  /// Copies an earlier value that a record keeps, to open it.
  func take(_ previous: borrowing PreviousValue, at place: ValuePlace, deviceKey: SealingKey?) {
    take(previous.sealed, previous.kind, previous: previous.revision, at: place, deviceKey)
  }

  private func take(
    _ source: RawSpan, _ kind: UInt8, previous revision: UInt64?, at place: ValuePlace, _ deviceKey: SealingKey?
  ) {
    if source.byteCount > sealed.count { sealed = WipedBuffer(count: source.byteCount) }
    sealed.copy(source)
    count = source.byteCount
    (self.kind, self.revision, self.place, self.deviceKey) = (kind, revision, place, deviceKey)
  }

  /// Opens the copied value and lends it to `body`, outside the lock. The bytes are in locked memory and are wiped
  /// afterwards.
  func open(_ name: borrowing RecordName, _ body: (RawSpan) -> Void) throws(VaultError) {
    defer { forget() }
    guard let place else { throw VaultError(.locked, "there is no value to open") }
    try place.open(
      sealed.span.extracting(..<count), kind, previous: revision, of: name,
      deviceKey: deviceKey, sealer, body)
  }

  private func forget() {
    (place, deviceKey) = (nil, nil)
    // A large buffer is not kept after the read.
    if sealed.count > 1 << 20 { sealed = WipedBuffer(count: 1024) }
  }
}
