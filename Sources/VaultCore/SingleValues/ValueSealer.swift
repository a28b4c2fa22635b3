internal import DurableFiles
public import VaultSealing

/// Seals single values as text for places outside the vault, such as a settings file (`Docs/Format.md` annex C).
///
/// The sealing key is a record of the vault: 32 random bytes, used for nothing else. It is read from the vault for each
/// value and is not kept, so a sealer throws ``VaultError/Code/locked`` as soon as the vault is locked. A missing
/// sealing key is never replaced by a new one; only ``createSealingKey()`` makes one.
///
/// A text opens only with the same sealing key and context. It reveals the length of the value. An older text of the
/// same context opens as well, so putting one back is not detected.
public struct ValueSealer: Sendable {
  /// The vault that has the sealing key.
  public let vault: Vault
  package let service: Vault.Name
  package let key: String
  package let group: AccessGroup
  private let accessibility: Vault.Accessibility?

  /// Creates a sealer whose sealing key is the record with this key. Reads nothing.
  ///
  /// - Parameter accessibility: when a new sealing key can be read; `nil` for ``Vault/Accessibility/whenUnlocked``.
  public init(
    key: String, service: Vault.Name, accessibility: Vault.Accessibility? = nil, in group: AccessGroup, of vault: Vault
  ) {
    self.key = key
    self.service = service
    self.accessibility = accessibility
    self.group = group
    self.vault = vault
  }

  // MARK: Values

  /// Returns a text that only ``withOpened(_:context:_:)`` with the same context opens.
  ///
  /// - Parameter context: any bytes that identify the place of the value, such as the name of a store and a key.
  /// - Throws: ``VaultError/Code/notFound`` if there is no sealing key; ``VaultError/Code/valueTooLarge``;
  ///   ``VaultError/Code/typeMismatch`` if the bytes do not fit the kind, or the record is not a sealing key; the
  ///   errors of ``Vault/withValue(service:key:in:_:)``.
  public func seal(_ value: RawSpan, kind: ValueKind, context: RawSpan) throws(VaultError) -> String {
    try kind.check(value, limit: vault.options.limits.writtenValueBytes)
    var message = try SecretBytes(count: value.byteCount + 1)
    unsafe message.withUnsafeMutableBytes { message in
      unsafe message[0] = kind.rawValue
      let body = unsafe UnsafeMutableRawBufferPointer(rebasing: message[1...])
      unsafe value.withUnsafeBytes { unsafe body.copyMemory(from: $0) }
    }
    let sealingKey = try sealingKey()
    let opener = try vault.handle.acquireOpener()
    defer { vault.handle.release(opener) }
    opener.sealer.bind(to: .single(context: context))
    return SealedText.write(message.withSpan { opener.sealer.seal($0, with: sealingKey) })
  }

  /// Opens a text and lends its value to `body`. The bytes are in locked memory and are wiped afterwards.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: ``VaultError/Code/malformed`` for a text that ``seal(_:kind:context:)`` never returns, such as a plain
  ///   value; ``VaultError/Code/tampered`` if it was changed, or sealed with a different sealing key
  ///   or context; ``VaultError/Code/limitExceeded``; ``VaultError/Code/notFound`` if there is no sealing key;
  ///   ``VaultError/Code/unreachable`` if the vault is in a database that would have to be asked for a newer one; the
  ///   errors of ``Vault/withValue(service:key:in:_:)``.
  @inlinable
  public func withOpened<R>(
    _ text: String, context: RawSpan, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R {
    var result: R?
    try openValue(text, context: context) { result = body($0, $1) }
    return result!  // `openValue` calls its closure or throws
  }

  /// Asks a database once before it says that a text does not open: another machine may have made its sealing key just
  /// now. Does not say so either if the database does not answer.
  @usableFromInline
  func openValue(_ text: String, context: RawSpan, _ body: (ValueKind, RawSpan) -> Void) throws(VaultError) {
    do throws(VaultError) { return try openKnown(text, context: context, body) } catch {
      guard error.code == .tampered || error.code == .notFound, vault.age > .zero else { throw error }
      try vault.refresh()
      try openKnown(text, context: context, body)
    }
  }

  private func openKnown(_ text: String, context: RawSpan, _ body: (ValueKind, RawSpan) -> Void) throws(VaultError) {
    let sealed = try parse(text)
    if try open(sealed, with: try sealingKey(), context: context, body) { return }
    // The text may have been sealed before the sealing key was renewed.
    let record = try record()
    for previous in record.previous where previous.kind == .data {
      switch try vault.withValue(of: record, previous: previous.revision, in: group, Self.sealingKey) {
      case .success(let previous)?: if try open(sealed, with: previous, context: context, body) { return }
      // This earlier value is not a sealing key: it has a different length.
      case .failure(let error)? where error.code == .typeMismatch: continue
      case .failure(let error)?: throw error
      case nil: continue
      }
    }
    throw VaultError(.tampered, "a sealed value was changed, moved, or sealed with a different sealing key")
  }

  private func parse(_ text: String) throws(VaultError) -> [UInt8] {
    let limit = vault.options.limits.valueBytes + 1 + Sealer.overhead
    return try SealedText.parse(unsafe text.utf8Span.span.bytes, limit: limit)
  }

  /// - Returns: Whether the seal opens. `body` is called only if it does.
  private func open(
    _ sealed: [UInt8], with sealingKey: SealingKey, context: RawSpan, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) -> Bool {
    let opener = try vault.handle.acquireOpener()
    defer { vault.handle.release(opener) }
    opener.sealer.bind(to: .single(context: context))
    let fits = { (message: RawSpan) in
      guard message.byteCount > 0 else { return false }
      let kind = ValueKind(rawValue: message.byte(at: 0))
      return kind.rawValue != 0 && kind.fitsUnwiped(message.extracting(1...))
    }
    let isFit = try opener.sealer.withOpened(sealed.bytes, with: sealingKey, if: fits) { message in
      body(ValueKind(rawValue: message.byte(at: 0)), message.extracting(1...))
    }
    guard isFit != false else { throw .malformed("a sealed value that does not fit its kind") }
    return isFit != nil
  }

  /// Whether a text has the form that ``seal(_:kind:context:)`` returns. Does not read the vault.
  package static func isSealed(_ text: String) -> Bool {
    do throws(VaultError) {
      _ = try SealedText.parse(unsafe text.utf8Span.span.bytes, limit: .max)
      return true
    } catch { return false }
  }

  /// Returns a text of the same value that opens with the present sealing key; `nil` if `text` already does.
  ///
  /// - Throws: the errors of ``withOpened(_:context:_:)`` and ``seal(_:kind:context:)``.
  package func resealed(_ text: String, context: RawSpan) throws(VaultError) -> String? {
    if try open(try parse(text), with: try sealingKey(), context: context, { _, _ in }) { return nil }
    return try withOpened(text, context: context) { kind, value in
      Result { () throws(VaultError) in try seal(value, kind: kind, context: context) }
    }.get()
  }

  // MARK: The sealing key

  /// Creates the sealing key, unless there is one. Durable when it returns; blocks while the disk syncs.
  ///
  /// Of several processes that call it at once, one creates the sealing key, and all use it. Call it in the set-up of
  /// an installation rather than at each start: a lost sealing key, without which nothing opens, is then noticed and
  /// not replaced.
  /// - Returns: Whether the sealing key is new.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record is not a sealing key; the errors of
  ///   ``Vault/transaction(service:in:_:)``.
  @discardableResult
  public func createSealingKey() throws(VaultError) -> Bool {
    do throws(VaultError) {
      try setSealingKey(RecordEdit(), ifRevision: 0)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      _ = try sealingKey()
      return false
    }
  }

  /// The asynchronous form of `createSealingKey()`. Cancelling the task does not stop it.
  @discardableResult
  public func createSealingKey() async throws(VaultError) -> Bool {
    try await vault.waiting.run { () throws(VaultError) in try createSealingKey() }
  }

  /// Replaces the sealing key by a new one. The record keeps the previous sealing keys, so that values sealed with them
  /// still open. Durable when it returns; blocks while the disk syncs.
  ///
  /// Seal all values again afterwards, and then call ``forgetPreviousSealingKeys()``.
  /// - Throws: ``VaultError/Code/notFound`` if there is no sealing key; ``VaultError/Code/conflict`` if another caller
  ///   changed the record meanwhile; the errors of ``Vault/transaction(service:in:_:)``.
  public func renewSealingKey() throws(VaultError) {
    _ = try sealingKey()
    let record = try record()
    guard record.previous.count < UInt16.max else {
      throw VaultError(.limitExceeded, "the record keeps \(record.previous.count) previous sealing keys")
    }
    var edit = RecordEdit()
    edit.historyDepth = .set(max(record.historyDepth, UInt16(record.previous.count + 1)))
    try setSealingKey(edit, ifRevision: record.revision)
  }

  /// The asynchronous form of `renewSealingKey()`. Cancelling the task does not stop it.
  public func renewSealingKey() async throws(VaultError) {
    try await vault.waiting.run { () throws(VaultError) in try renewSealingKey() }
  }

  /// Removes the previous sealing keys. Values that are sealed with one of them do not open any more.
  ///
  /// Seal the values of all stores again first. A writer that read the previous sealing key just before it was renewed
  /// may still store a value with it.
  /// - Throws: the errors of ``renewSealingKey()``.
  public func forgetPreviousSealingKeys() throws(VaultError) {
    _ = try sealingKey()
    let record = try record()
    var edit = RecordEdit()
    edit.historyDepth = .set(0)
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.edit(key, edit, ifRevision: record.revision)
    }
  }

  /// The asynchronous form of `forgetPreviousSealingKeys()`. Cancelling the task does not stop it.
  public func forgetPreviousSealingKeys() async throws(VaultError) {
    try await vault.waiting.run { () throws(VaultError) in try forgetPreviousSealingKeys() }
  }

  private func setSealingKey(_ edit: RecordEdit, ifRevision revision: UInt64) throws(VaultError) {
    let fresh = try SecretBytes(count: SealingKey.count, from: vault.options.random)
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
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
    guard let sealingKey = try vault.withValue(service: service, key: key, in: group, Self.sealingKey) else {
      throw Self.missing
    }
    return try sealingKey.get()
  }

  private static func sealingKey(_ kind: ValueKind, _ bytes: RawSpan) -> Result<SealingKey, VaultError> {
    guard kind == .data, bytes.byteCount == SealingKey.count else {
      return .failure(VaultError(.typeMismatch, "the record is not a sealing key, which is data of 32 bytes"))
    }
    return Result { () throws(VaultError) in try SealingKey(copying: bytes) }
  }

  private static let missing = VaultError(.notFound, "the vault has no sealing key under this key")
}
