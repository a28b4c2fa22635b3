internal import VaultSealing

/// The context to which a seal is bound: the table of `Docs/Format.md` 2.3.
enum Context: ~Escapable {
  case slot(vault: Vault.Identifier, header: RawSpan)
  case manifest(header: RawSpan, slots: RawSpan)
  case section(vault: Vault.Identifier, group: Vault.Identifier, epoch: UInt32)
  case entry(vault: Vault.Identifier, group: Vault.Identifier, epoch: UInt32, manifest: Vault.Tag, previous: Vault.Tag)
  case value(service: RawSpan, key: RawSpan, kind: UInt8)
  case previous(service: RawSpan, key: RawSpan, kind: UInt8, revision: UInt64)
  case device(
    vault: Vault.Identifier, group: Vault.Identifier, service: RawSpan, key: RawSpan,
    kind: UInt8)
  /// A value outside a vault (annex C).
  case single(context: RawSpan)
  /// The state and the events of a log, and its key of an earlier epoch (annex F).
  case logState(vault: Vault.Identifier, group: Vault.Identifier)
  case logEvent(vault: Vault.Identifier, group: Vault.Identifier, number: UInt64)
  case earlierLogKey(vault: Vault.Identifier, group: Vault.Identifier, epoch: UInt32)

  func write(to transcript: Transcript) {
    switch self {
    case .slot(let vault, let header):
      transcript.add("slot")
      transcript.add(vault)
      transcript.add(header)
    case .manifest(let header, let slots):
      transcript.add("manifest")
      transcript.add(header)
      transcript.add(slots)
    case .section(let vault, let group, let epoch):
      transcript.add("section")
      transcript.add(vault)
      transcript.add(group)
      transcript.add(epoch)
    case .entry(let vault, let group, let epoch, let manifest, let previous):
      transcript.add("entry")
      transcript.add(vault)
      transcript.add(group)
      transcript.add(epoch)
      transcript.add(manifest)
      transcript.add(previous)
    case .value(let service, let key, let kind):
      transcript.add("value")
      transcript.add(service)
      transcript.add(key)
      transcript.add(kind)
    case .previous(let service, let key, let kind, let revision):
      transcript.add("previous")
      transcript.add(service)
      transcript.add(key)
      transcript.add(kind)
      transcript.add(revision)
    case .device(let vault, let group, let service, let key, let kind):
      transcript.add("device")
      transcript.add(vault)
      transcript.add(group)
      transcript.add(service)
      transcript.add(key)
      transcript.add(kind)
    case .single(let context):
      transcript.add("token")
      transcript.add(context)
    case .logState(let vault, let group):
      transcript.add("log-state")
      transcript.add(vault)
      transcript.add(group)
    case .logEvent(let vault, let group, let number):
      transcript.add("log-event")
      transcript.add(vault)
      transcript.add(group)
      transcript.add(number)
    case .earlierLogKey(let vault, let group, let epoch):
      transcript.add("log-earlier-key")
      transcript.add(vault)
      transcript.add(group)
      transcript.add(epoch)
    }
  }
}

extension Transcript {
  func add(_ identifier: Vault.Identifier) { identifier.withSpan { add($0) } }
  func add(_ tag: Vault.Tag) { tag.withSpan { add($0) } }
}

extension Sealer {
  /// Binds the next seal that is made or opened to `context`.
  func bind(to context: borrowing Context) {
    bind()
    context.write(to: transcript)
  }

  /// Pads and seals a body. The caller wipes its own copy. The result is 72 bytes longer than the padded body.
  func sealBody(_ body: RawSpan, step: Int, with key: SealingKey, as context: borrowing Context) -> [UInt8] {
    let padded = Padding.padded(body, step: step)
    bind(to: context)
    return seal(padded.span, with: key)
  }

  /// Opens a padded body. Returns `nil` if the seal fails; throws ``VaultError/Code/malformed`` if the padding is
  /// wrong.
  func openBody(
    _ sealed: RawSpan, step: Int, with key: SealingKey, as context: borrowing Context
  ) throws(VaultError) -> (buffer: WipedBuffer, count: Int)? {
    bind(to: context)
    guard let buffer = openedBody(sealed, with: key) else { return nil }
    guard let count = Padding.unpaddedCount(buffer.span, step: step) else { throw .malformed("padding") }
    return (buffer, count)
  }

  /// Opens a padded body that contains keys in guarded memory and lends it to `body`. Returns `nil` if the seal fails;
  /// throws ``VaultError/Code/malformed`` if the padding is wrong.
  func withSecretBody<R>(
    _ sealed: RawSpan, step: Int, with key: SealingKey, as context: borrowing Context,
    _ body: (RawSpan) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    bind(to: context)
    var result: Result<R, VaultError>?
    _ = try withOpened(sealed, with: key) { padded in
      result = Result { () throws(VaultError) in
        guard let count = Padding.unpaddedCount(padded, step: step) else { throw .malformed("padding") }
        return try body(padded.extracting(..<count))
      }
    }
    return try result?.get()
  }
}
