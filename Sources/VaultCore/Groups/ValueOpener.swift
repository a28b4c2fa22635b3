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

  /// Copies a sealed value into the opener's buffer, or into the returned one if it is too long.
  private func copy(_ sealed: RawSpan) -> WipedBuffer? {
    guard sealed.byteCount <= buffer.count else { return WipedBuffer(copying: sealed) }
    buffer.copy(sealed)
    return nil
  }

  /// A sealed value that was copied from its record, with what is needed to open it.
  ///
  /// A struct that the caller holds: a property of the opener would need a run-time exclusivity check.
  struct CopiedValue: @unchecked Sendable {
    // Unchecked: used by the opener's caller.
    let opener: ValueOpener
    let kind: UInt8
    /// The revision of an earlier value; `nil` for the current one.
    private let revision: UInt64?
    private let cipher: ValueCipher
    /// The bytes, if they do not fit into the opener's buffer; not kept after the read.
    private let large: WipedBuffer?
    private let count: Int

    /// Copies everything needed to open a record's value. Called under the handle's lock.
    init(_ record: Record, with cipher: ValueCipher, by opener: ValueOpener) {
      self.init(record.sealedValue, record.kind, previous: nil, with: cipher, by: opener)
    }

    /// Copies an earlier value that a record keeps, to open it.
    init(_ previous: borrowing PreviousValue, with cipher: ValueCipher, by opener: ValueOpener) {
      self.init(previous.sealed, previous.kind, previous: previous.revision, with: cipher, by: opener)
    }

    private init(
      _ sealed: RawSpan, _ kind: UInt8, previous revision: UInt64?, with cipher: ValueCipher, by opener: ValueOpener
    ) {
      large = opener.copy(sealed)
      self.opener = opener
      self.kind = kind
      self.revision = revision
      self.cipher = cipher
      count = sealed.byteCount
    }

    /// The keys for logging the read; `nil` if it is not logged.
    var audit: AuditKeys? { cipher.audit }

    /// Opens the value and lends it to `body`, outside the lock. The bytes are in locked memory and are wiped
    /// afterwards.
    func open(_ name: borrowing RecordName, _ body: (RawSpan) -> Void) throws(VaultError) {
      guard let large else { return try open(opener.buffer, name, body) }
      try open(large, name, body)
    }

    private func open(
      _ sealed: WipedBuffer, _ name: borrowing RecordName, _ body: (RawSpan) -> Void
    ) throws(VaultError) {
      try cipher.open(
        sealed.span.extracting(..<count), kind, previous: revision, of: name, deviceKey: opener.deviceKey,
        opener.sealer, body)
    }
  }
}
