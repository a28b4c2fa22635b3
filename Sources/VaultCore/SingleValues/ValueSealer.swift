public import VaultSealing

/// Seals single values as text for places outside the vault, such as a settings file (`Docs/Format.md` annex C).
///
/// The sealing key is a record of the vault: 32 random bytes, used for nothing else. It is read from the vault for each
/// value and is not kept, so a sealer throws ``VaultError/Code/locked`` as soon as the vault is locked. A missing key
/// is never replaced by a new one; only ``createKey()`` makes one.
///
/// A text opens only with the same key and context. It shows the length of the value, and an older text of the same
/// context opens as well: it does not show that it was replaced.
public struct ValueSealer: Sendable {
  /// The vault that has the sealing key.
  public let vault: Vault
  private let service: Vault.Name
  private let key: String
  private let group: AccessGroup
  private let accessibility: Vault.Accessibility?

  /// Creates a sealer whose key is the record of this name. Reads nothing.
  ///
  /// - Parameter accessibility: when a new key can be read; ``Vault/Accessibility/whenUnlocked`` with `nil`.
  public init(
    key: String, service: Vault.Name, accessibility: Vault.Accessibility? = nil, in group: AccessGroup, of vault: Vault
  ) {
    (self.key, self.service, self.accessibility) = (key, service, accessibility)
    (self.group, self.vault) = (group, vault)
  }

  // MARK: Values

  /// Returns a text that only ``withOpened(_:context:_:)`` with the same context opens.
  ///
  /// - Parameter context: any bytes that identify the place of the value, such as the names of a store and a key.
  /// - Throws: ``VaultError/Code/notFound`` if there is no sealing key; ``VaultError/Code/valueTooLarge``;
  ///   ``VaultError/Code/typeMismatch`` if the bytes do not fit the kind, or the record is not a sealing key; the
  ///   errors of ``Vault/withValue(service:key:in:_:)``.
  public func seal(_ value: RawSpan, kind: ValueKind, context: RawSpan) throws(VaultError) -> String {
    let limit = vault.options.limits.writtenValueBytes
    guard value.byteCount <= limit else {
      throw VaultError(.valueTooLarge, "the value has \(value.byteCount) bytes; the limit is \(limit)")
    }
    guard kind.rawValue != 0, kind.fits(value) else {
      throw VaultError(.typeMismatch, "the bytes are not a valid value of this kind")
    }
    var message = try SecretBytes(count: value.byteCount + 1)
    unsafe message.withUnsafeMutableBytes { message in
      unsafe message[0] = kind.rawValue
      let body = unsafe UnsafeMutableRawBufferPointer(rebasing: message[1...])
      unsafe value.withUnsafeBytes { unsafe body.copyMemory(from: $0) }
    }
    let key = try sealingKey()
    let opener = try vault.handle.takeOpener()
    defer { vault.handle.giveBack(opener) }
    opener.sealer.bind(to: .single(context: context))
    return SealedText.write(message.withSpan { opener.sealer.seal($0, with: key) })
  }

  /// Opens a text and lends its value to `body`. The bytes are in locked memory and are wiped afterwards.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: ``VaultError/Code/malformed`` for a text that ``seal(_:kind:context:)`` never returns, such as a plain
  ///   value; ``VaultError/Code/tampered`` if it was changed, or sealed with a different key or context;
  ///   ``VaultError/Code/limitExceeded``; ``VaultError/Code/notFound`` if there is no sealing key; the errors of
  ///   ``Vault/withValue(service:key:in:_:)``.
  @inlinable
  public func withOpened<R>(
    _ text: String, context: RawSpan, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R {
    var result: R?
    try lend(text, context: context) { result = body($0, $1) }
    return result!  // `lend` calls its closure or throws
  }

  @usableFromInline
  func lend(_ text: String, context: RawSpan, _ body: (ValueKind, RawSpan) -> Void) throws(VaultError) {
    let limit = vault.options.limits.valueBytes + 1 + Sealer.overhead
    let sealed = try SealedText.parse(unsafe text.utf8Span.span.bytes, limit: limit)
    if try open(sealed, with: try sealingKey(), context: context, body) { return }
    // Sealed before the key was renewed, perhaps.
    let record = try record()
    for previous in record.previous where previous.kind == .data {
      let key = try vault.withValue(of: record, previous: previous.revision, in: group, Self.sealingKey)
      if let key, try open(sealed, with: try key.get(), context: context, body) { return }
    }
    throw VaultError(.tampered, "a sealed value was changed, moved, or sealed with a different key")
  }

  /// - Returns: Whether the seal opens. `body` is called only if it does.
  private func open(
    _ sealed: [UInt8], with key: SealingKey, context: RawSpan, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) -> Bool {
    let opener = try vault.handle.takeOpener()
    defer { vault.handle.giveBack(opener) }
    opener.sealer.bind(to: .single(context: context))
    var fits = false
    let isOpen = try opener.sealer.withOpened(sealed.bytes, with: key) { message in
      guard message.byteCount > 0 else { return }
      let (kind, value) = (ValueKind(rawValue: message.byte(at: 0)), message.extracting(1...))
      fits = kind.rawValue != 0 && kind.fits(value)
      if fits { body(kind, value) }
    }
    guard fits || !isOpen else { throw .malformed("a sealed value that does not fit its kind") }
    return isOpen
  }

  // MARK: The key

  /// Creates the sealing key, unless there is one. Durable when it returns; blocks while the disk syncs.
  ///
  /// Of several processes that call it at once, one creates the key, and all use it. Call it in the set-up of an
  /// installation rather than at each start: a lost key, without which nothing opens, is then noticed and not replaced.
  /// - Returns: Whether the key is new.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record is not a sealing key; the errors of
  ///   ``Vault/update(service:in:_:)``.
  @discardableResult
  public func createKey() throws(VaultError) -> Bool {
    do throws(VaultError) {
      try setKey(RecordEdit(), ifRevision: 0)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      _ = try sealingKey()
      return false
    }
  }

  /// Replaces the sealing key by a new one. The record keeps the previous keys, with which values still open that were
  /// sealed with them. Durable when it returns; blocks while the disk syncs.
  ///
  /// Seal all values again afterwards, and then call ``forgetPreviousKeys()``.
  /// - Throws: ``VaultError/Code/notFound`` if there is no sealing key; ``VaultError/Code/conflict`` if another caller
  ///   changed the record meanwhile; the errors of ``Vault/update(service:in:_:)``.
  public func renewKey() throws(VaultError) {
    _ = try sealingKey()
    let record = try record()
    guard record.previous.count < UInt16.max else {
      throw VaultError(.limitExceeded, "the record keeps \(record.previous.count) previous keys")
    }
    var edit = RecordEdit()
    edit.historyDepth = .set(max(record.historyDepth, UInt16(record.previous.count + 1)))
    try setKey(edit, ifRevision: record.revision)
  }

  /// Removes the previous keys. Values that are sealed with one of them do not open any more.
  ///
  /// Seal the values of all stores again first. A writer that read the previous key just before it was renewed may
  /// still store a value with it.
  /// - Throws: the errors of ``renewKey()``.
  public func forgetPreviousKeys() throws(VaultError) {
    _ = try sealingKey()
    let record = try record()
    var edit = RecordEdit()
    edit.historyDepth = .set(0)
    try vault.update(service: service, in: group) { (batch) throws(VaultError) in
      try batch.edit(key, edit, ifRevision: record.revision)
    }
  }

  private func setKey(_ edit: RecordEdit, ifRevision revision: UInt64) throws(VaultError) {
    let fresh = try SecretBytes(count: SealingKey.count, from: vault.options.random)
    try vault.update(service: service, in: group) { (batch) throws(VaultError) in
      try fresh.withSpan { (fresh) throws(VaultError) in
        try batch.set(
          fresh, kind: .data, forKey: key, accessibility: revision == 0 ? accessibility : nil, edit: edit,
          ifRevision: revision)
      }
    }
  }

  private func record() throws(VaultError) -> RecordInfo {
    guard let record = try vault.record(service: service, key: key, in: group) else { throw Self.missing }
    return record
  }

  private func sealingKey() throws(VaultError) -> SealingKey {
    guard let key = try vault.withValue(service: service, key: key, in: group, Self.sealingKey) else {
      throw Self.missing
    }
    return try key.get()
  }

  private static func sealingKey(_ kind: ValueKind, _ bytes: RawSpan) -> Result<SealingKey, VaultError> {
    guard kind == .data, bytes.byteCount == SealingKey.count else {
      return .failure(VaultError(.typeMismatch, "the record is not a sealing key, which is data of 32 bytes"))
    }
    return Result { () throws(VaultError) in try SealingKey(copying: bytes) }
  }

  private static let missing = VaultError(.notFound, "the vault has no sealing key under this name")
}
