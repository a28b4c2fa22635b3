internal import CVaultSodium

/// Derives keys, seals and opens: every cipher call of the package (`Docs/Format.md` 2.1, 2.2).
///
/// A sealer owns one locked page for subkeys and small values, so that an operation allocates nothing. It is used by
/// one caller at a time; the owner of a shared sealer must ensure that. Subkeys are wiped before each call returns.
@safe package final class Sealer: @unchecked Sendable {
  /// How much longer sealed bytes are than the message: nonce 24, tag 32, Poly1305 16.
  package static let overhead = 72
  /// The length of the nonce at the start of sealed bytes.
  static let nonceCount = 24
  /// The position of the tag in sealed bytes.
  package static let tag = 24..<56

  // One page: 64 subkeys | 384 hash state | 64 tag and nonce | the rest for a value.
  private static let stateOffset = 64
  private static let tagOffset = 448
  private static let valueOffset = 512

  private let page: SealerPages.Page
  // The address of `page`, which never changes. A sealer serves one caller at a time, and the parts of the page do not
  // overlap.
  private let pageBytes: UnsafeMutableRawBufferPointer
  /// The context of the next seal: ``bind()`` starts it, and then its items are added.
  package let transcript = Transcript()
  private let random: RandomSource

  /// Creates a sealer that takes nonces from `random`.
  package init(random: RandomSource = .system) throws(VaultError) {
    page = try SealerPages.acquire()
    unsafe pageBytes = unsafe page.bytes
    self.random = random
  }

  deinit { SealerPages.release(page) }

  /// The maximum length of a value that ``withOpened(_:with:if:_:)`` opens in the sealer's own page, in bytes.
  package static let scratchCount = SealerPages.pageCount - valueOffset

  /// Derives `D(out.count, key, label, context…)` into `out`.
  package func derive(
    _ label: StaticString, from key: SealingKey, into out: UnsafeMutableRawBufferPointer,
    context: (Transcript) -> Void
  ) {
    precondition((16...64).contains(out.count), "BLAKE2b gives 16 to 64 bytes")
    transcript.begin(label)
    context(transcript)
    unsafe key.withUnsafeBytes { key in
      unsafe hash(into: out, key: key, transcript.bytes)
    }
    transcript.clear()
    wipeStack()
  }

  /// Derives a 32-byte key.
  package func deriveKey(
    _ label: StaticString, from key: SealingKey, context: (Transcript) -> Void
  ) throws(VaultError) -> SealingKey {
    try unsafe SealingKey { unsafe derive(label, from: key, into: $0, context: context) }
  }

  /// Starts the context of the next seal that is made or opened. The caller then adds its items to ``transcript``.
  package func bind() { transcript.begin("seal") }

  /// Seals `message` for the bound context (`crypto_secretbox`). The result is ``overhead`` bytes longer and opens only
  /// with the same key and context.
  package func seal(_ message: RawSpan, with key: SealingKey) -> [UInt8] {
    let message = unsafe message.lent
    let (ke, km) = unsafe subkeys(of: key)
    defer {
      wipePage()
      wipeStack()
    }
    return unsafe [UInt8](unsafeUninitializedCapacity: message.count + Self.overhead) { bytes, count in
      count = message.count + Self.overhead
      let out = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[..<count])
      // The hedged nonce: it repeats only if the random bytes and the message both do, so a machine that is
      // restored from a snapshot does not reuse a key stream.
      let drawn = unsafe UnsafeMutableRawBufferPointer(rebasing: pageBytes[Self.tagOffset..<Self.tagOffset + 24])
      unsafe random.fill(drawn)
      let nonce = unsafe UnsafeMutableRawBufferPointer(rebasing: out[0..<Self.nonceCount])
      unsafe hash(into: nonce, key: km, UnsafeRawBufferPointer(drawn), message)
      let box = unsafe UnsafeMutableRawBufferPointer(rebasing: out[Self.tag.upperBound...])
      _ = unsafe crypto_secretbox_easy(
        box.baseAddress!.assumingMemoryBound(to: UInt8.self), message.bytePointer,
        UInt64(message.count), nonce.baseAddress!.assumingMemoryBound(to: UInt8.self), ke.bytePointer!)
      unsafe hash(
        into: UnsafeMutableRawBufferPointer(rebasing: out[Self.tag]), key: km,
        UnsafeRawBufferPointer(nonce), UnsafeRawBufferPointer(box))
    }
  }

  /// Opens bytes that ``seal(_:with:)`` made with the same key and the bound context.
  ///
  /// - Parameter out: at least `sealed.count` - ``overhead`` bytes, not overlapping `sealed`. It contains nothing of
  ///   the message if the result is `false`.
  /// - Returns: Whether tag and box are valid. A wrong key, a different context and a changed byte are not
  ///   distinguished.
  package func open(
    _ sealed: RawSpan, with key: SealingKey, into out: UnsafeMutableRawBufferPointer
  ) -> Bool {
    defer { wipeStack() }
    return unsafe openUnwiped(sealed, with: key, into: out)
  }

  /// As ``open(_:with:into:)``, but the caller wipes the stack.
  private func openUnwiped(
    _ sealed: RawSpan, with key: SealingKey, into out: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let sealed = unsafe sealed.lent
    guard sealed.count >= Self.overhead else { return false }
    precondition(out.count >= sealed.count - Self.overhead, "the message needs room")
    let (ke, km) = unsafe subkeys(of: key)
    defer { wipePage() }
    let nonce = unsafe UnsafeRawBufferPointer(rebasing: sealed[0..<Self.nonceCount])
    let box = unsafe UnsafeRawBufferPointer(rebasing: sealed[Self.tag.upperBound...])
    let tag = unsafe UnsafeMutableRawBufferPointer(rebasing: pageBytes[Self.tagOffset..<Self.tagOffset + 32])
    unsafe hash(into: tag, key: km, nonce, box)
    let stored = unsafe UnsafeRawBufferPointer(rebasing: sealed[Self.tag])
    guard unsafe crypto_verify_32(UnsafeRawBufferPointer(tag).bytePointer!, stored.bytePointer!) == 0 else {
      return false
    }
    return unsafe crypto_secretbox_open_easy(
      out.baseAddress?.assumingMemoryBound(to: UInt8.self), box.bytePointer!, UInt64(box.count),
      nonce.bytePointer!, ke.bytePointer!) == 0
  }

  /// Decrypts bytes that do not open, to salvage parts that have their own seals. **The result is not authenticated**:
  /// an attacker may have changed it.
  ///
  /// - Parameter sealed: more than ``overhead`` bytes.
  package func decryptedUnverified(_ sealed: RawSpan, with key: SealingKey) -> WipedBuffer {
    let sealed = unsafe sealed.lent
    let body = WipedBuffer(count: sealed.count - Self.overhead)
    let out = unsafe body.bytes
    let (ke, _) = unsafe subkeys(of: key)
    defer {
      wipePage()
      wipeStack()
    }
    // secretbox uses the first 32 bytes of the key stream for Poly1305, and the following ones for the message.
    let authenticator = 32
    let stream = WipedBuffer(count: authenticator + out.count)
    unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: stream.bytes[..<authenticator]))
    unsafe UnsafeMutableRawBufferPointer(rebasing: stream.bytes[authenticator...]).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: sealed[Self.overhead...]))
    let bytes = unsafe stream.bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    _ = unsafe crypto_stream_xsalsa20_xor(
      bytes, bytes, UInt64(stream.bytes.count), sealed.bytePointer!, ke.bytePointer!)
    unsafe out.copyMemory(from: UnsafeRawBufferPointer(rebasing: stream.bytes[authenticator...]))
    return body
  }

  /// Opens a value in locked memory, lends it to `body` if it is valid, and wipes it.
  ///
  /// - Parameter isValid: the check. What it leaves on the stack is wiped together with what the opening left.
  /// - Returns: Whether `body` was called, or `nil` if the value does not open.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded page for a value longer than ``scratchCount``.
  package func withOpened(
    _ sealed: RawSpan, with key: SealingKey, if isValid: (RawSpan) -> Bool = { _ in true }, _ body: (RawSpan) -> Void
  ) throws(VaultError) -> Bool? {
    let count = max(sealed.byteCount - Self.overhead, 0)
    if count > Self.scratchCount {
      guard let block = try opened(sealed, with: key) else { return nil }
      return block.withSpan { value in
        let isValid = isValid(value)
        wipeStack()
        if isValid { body(value) }
        return isValid
      }
    }
    let out = unsafe UnsafeMutableRawBufferPointer(
      rebasing: pageBytes[Self.valueOffset..<Self.valueOffset + count])
    defer { unsafe wipe(out) }
    let isOpen = unsafe openUnwiped(sealed, with: key, into: out)
    let value = unsafe UnsafeRawBufferPointer(out).bytes
    let isValid = isOpen && isValid(value)
    wipeStack()
    if isValid { body(value) }
    return isOpen ? isValid : nil
  }

  /// Opens a value in a new guarded block; `nil` if it does not open.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded page.
  package func opened(_ sealed: RawSpan, with key: SealingKey) throws(VaultError) -> SecretBytes? {
    var block = try SecretBytes(count: max(sealed.byteCount - Self.overhead, 0))
    let isOpen = unsafe block.withUnsafeMutableBytes { unsafe open(sealed, with: key, into: $0) }
    guard isOpen else { return nil }
    return block
  }

  /// Opens a sealed key; `nil` if it does not open.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  package func openedKey(_ sealed: RawSpan, with key: SealingKey) throws(VaultError) -> SealingKey? {
    precondition(sealed.byteCount == SealingKey.count + Self.overhead, "a sealed key has a fixed length")
    return try unsafe SealingKey(fillingIf: { unsafe open(sealed, with: key, into: $0) })
  }

  /// Opens a body of names and sealed values, which needs no locked memory; `nil` if it does not open.
  package func openedBody(_ sealed: RawSpan, with key: SealingKey) -> WipedBuffer? {
    guard sealed.byteCount > Self.overhead else { return nil }
    let body = WipedBuffer(count: sealed.byteCount - Self.overhead)
    return unsafe open(sealed, with: key, into: body.bytes) ? body : nil
  }

  /// Derives the two subkeys of a seal under `key` with the context in ``transcript``.
  private func subkeys(of key: SealingKey) -> (ke: UnsafeRawBufferPointer, km: UnsafeRawBufferPointer) {
    precondition(transcript.count > 0, "a seal is bound first")
    let both = unsafe UnsafeMutableRawBufferPointer(rebasing: pageBytes[0..<64])
    unsafe key.withUnsafeBytes { key in
      unsafe hash(into: both, key: key, transcript.bytes)
    }
    // Each context is used once, so that no seal uses the context of a different one.
    transcript.clear()
    return unsafe (UnsafeRawBufferPointer(rebasing: both[0..<32]), UnsafeRawBufferPointer(rebasing: both[32..<64]))
  }

  /// Wipes subkeys, hash state, tag and nonce.
  private func wipePage() { unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: pageBytes[0..<Self.valueOffset])) }

  private func hash(
    into out: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer, _ first: UnsafeRawBufferPointer,
    _ second: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    // The hash state contains the key, so it is in the locked page. It is aligned to 64 bytes, because the length of
    // the page is a multiple of 64.
    let state = unsafe OpaquePointer(pageBytes.baseAddress!.advanced(by: Self.stateOffset))
    unsafe crypto_generichash_init(state, key.bytePointer, key.count, out.count)
    unsafe crypto_generichash_update(state, first.bytePointer, UInt64(first.count))
    if second.count > 0 { unsafe crypto_generichash_update(state, second.bytePointer, UInt64(second.count)) }
    unsafe crypto_generichash_final(state, out.baseAddress!.assumingMemoryBound(to: UInt8.self), out.count)
  }
}

extension Sealer: CustomReflectable {
  /// Empty, because a dump would print the locked page.
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Wipes what earlier calls left on this thread's stack below the caller.
///
/// libsodium 1.0.18 leaves derived keys, root keys and the first 32 bytes of opened values there until other calls
/// overwrite them. A loop that reads a value word by word leaves the last word. Both were found by searching the memory
/// of a live process.
package func wipeStack(_ count: Int = 4096) { wipe_stack_below(count) }

extension RawSpan {
  /// The bytes, without a copy. Valid until the call that received the span returns.
  @unsafe var lent: UnsafeRawBufferPointer { unsafe withUnsafeBytes { unsafe $0 } }
}

extension UnsafeRawBufferPointer {
  var bytePointer: UnsafePointer<UInt8>? { unsafe baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

/// The unkeyed `B(32, "", bytes)` of `Docs/Format.md` 3.4 and 3.7. **No security meaning.**
package func checksum(_ bytes: RawSpan) -> InlineArray<32, UInt8> {
  _ = GuardedMemory.isReady  // lets libsodium select its fast code; hashing needs no random bytes
  let bytes = unsafe bytes.lent
  var out = InlineArray<32, UInt8>(repeating: 0)
  var span = out.mutableSpan
  unsafe span.withUnsafeMutableBufferPointer { out in
    _ = unsafe crypto_generichash(out.baseAddress!, out.count, bytes.bytePointer, UInt64(bytes.count), nil, 0)
  }
  return out
}
