internal import VaultSealing

/// Opens values outside the handle's lock. Used by one caller at a time; the handle keeps idle openers.
final class ValueOpener: @unchecked Sendable {
  // Unchecked: passed from one caller to the next under the handle's lock.
  let sealer: Sealer
  // Large enough for each value that the sealer opens without an allocation.
  private let buffer = WipedBuffer(count: Sealer.scratchCount + 2 * Sealer.overhead)

  private let deviceKey: SealingKey?

  init(_ options: Vault.Options) throws(VaultError) {
    sealer = try Sealer(random: options.random)
    deviceKey = options.deviceKey
  }

  /// A sealed value that was copied from its record, with what is needed to open it.
  ///
  /// A struct that the caller holds: a property of the opener would need a run-time exclusivity check.
  struct Taken: @unchecked Sendable {
    // Unchecked: used by the opener's caller.
    let opener: ValueOpener
    let kind: UInt8
    /// The revision of an earlier value; `nil` for the current one.
    fileprivate let revision: UInt64?
    fileprivate let place: ValuePlace
    /// The bytes, if they do not fit into the opener's buffer; not kept after the read.
    fileprivate let large: WipedBuffer?
    fileprivate let count: Int

    /// The keys for logging the read; `nil` if it is not logged.
    var audit: AuditKeys? { place.audit }

    /// Opens the value and lends it to `body`, outside the lock. The bytes are in locked memory and are wiped
    /// afterwards.
    func open(_ name: borrowing RecordName, _ body: (RawSpan) -> Void) throws(VaultError) {
      let bytes = large ?? opener.buffer
      try place.open(
        bytes.span.extracting(..<count), kind, previous: revision, of: name, deviceKey: opener.deviceKey,
        opener.sealer, body)
    }
  }

  /// Copies everything needed to open a record's value. Called under the handle's lock.
  func take(_ record: Record, at place: ValuePlace) -> Taken {
    take(record.sealedValue, record.kind, previous: nil, at: place)
  }

  /// Copies an earlier value that a record keeps, to open it.
  func take(_ previous: borrowing PreviousValue, at place: ValuePlace) -> Taken {
    take(previous.sealed, previous.kind, previous: previous.revision, at: place)
  }

  private func take(_ sealed: RawSpan, _ kind: UInt8, previous revision: UInt64?, at place: ValuePlace) -> Taken {
    let large = sealed.byteCount > buffer.count ? WipedBuffer(copying: sealed) : nil
    if large == nil { buffer.copy(sealed) }
    return Taken(opener: self, kind: kind, revision: revision, place: place, large: large, count: sealed.byteCount)
  }
}
