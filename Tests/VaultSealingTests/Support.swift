import Testing
import VaultSealing

/// What a test names its place with.
typealias Context = @Sendable (Transcript) -> Void

/// One line of a table: its id is what a report shows.
protocol Row: Sendable, Identifiable, CustomTestStringConvertible where ID == String {}

extension Row {
  var testDescription: String { id }
}

/// Bytes written as hex digits; white space between them does not count.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
  precondition(digits.count.isMultiple(of: 2), "a byte has two digits")
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// The bytes 0, step, 2 × step … modulo 256.
func run(_ count: Int, step: Int = 1) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 * step) }
}

/// `count` times the same byte.
func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] {
  [UInt8](repeating: byte, count: count)
}

/// The code that `body` throws; `nil` when it throws nothing.
func refusal<R: ~Copyable>(of body: () throws -> R) -> VaultError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as VaultError {
    return error.code
  } catch {
    Issue.record(error)
    return nil
  }
}

extension Transcript {
  func add(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { add($0) }
  }
}

extension RandomSource {
  static let zero = RandomSource { wipe($0) }

  /// Gives the same bytes to every caller, from the first one on.
  static func fixed(_ bytes: [UInt8]) -> RandomSource {
    RandomSource { $0.copyBytes(from: bytes.prefix($0.count)) }
  }
}

extension SecretBytes {
  static func of(_ bytes: [UInt8]) throws(VaultError) -> SecretBytes {
    try bytes.span.bytes.withUnsafeBytes { bytes throws(VaultError) in try SecretBytes(copying: bytes) }
  }

  var copy: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension SealingKey {
  static func of(_ bytes: [UInt8]) throws(VaultError) -> SealingKey {
    try bytes.span.bytes.withUnsafeBytes { bytes throws(VaultError) in try SealingKey(copying: bytes) }
  }

  /// The key of the annex: the bytes 00…1f.
  static func annex() throws(VaultError) -> SealingKey { try of(run(32)) }

  var copy: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension Sealer {
  /// Binds a context and seals.
  func seal(
    _ message: UnsafeRawBufferPointer, with key: SealingKey, into out: UnsafeMutableRawBufferPointer,
    context: (Transcript) -> Void
  ) {
    bind()
    context(transcript)
    out.copyBytes(from: seal(message.bytes, with: key))
  }

  /// Binds a context and opens.
  func open(
    _ sealed: UnsafeRawBufferPointer, with key: SealingKey, into out: UnsafeMutableRawBufferPointer,
    context: (Transcript) -> Void
  ) -> Bool {
    bind()
    context(transcript)
    return open(sealed.bytes, with: key, into: out)
  }

  /// Binds a context and lends what is opened.
  func withOpened(
    _ sealed: UnsafeRawBufferPointer, with key: SealingKey, context: (Transcript) -> Void,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) -> Bool {
    bind()
    context(transcript)
    return try withOpened(sealed.bytes, with: key) { $0.withUnsafeBytes(body) } != nil
  }

  func derived(
    _ count: Int, _ label: StaticString, from key: SealingKey, _ context: (Transcript) -> Void
  ) -> [UInt8] {
    var out = repeated(0, count)
    out.withUnsafeMutableBytes { derive(label, from: key, into: $0, context: context) }
    return out
  }

  func sealed(
    _ message: [UInt8], with key: SealingKey, _ context: (Transcript) -> Void = { _ in }
  ) -> [UInt8] {
    var out = repeated(0, message.count + Sealer.overhead)
    message.withUnsafeBytes { message in
      out.withUnsafeMutableBytes { seal(message, with: key, into: $0, context: context) }
    }
    return out
  }

  func opened(
    _ sealed: [UInt8], with key: SealingKey, _ context: (Transcript) -> Void = { _ in }
  ) -> [UInt8]? {
    var out = repeated(0, max(sealed.count - Sealer.overhead, 0))
    let isOpen = sealed.withUnsafeBytes { sealed in
      out.withUnsafeMutableBytes { open(sealed, with: key, into: $0, context: context) }
    }
    return isOpen ? out : nil
  }

  /// What is lent of a sealed value, copied.
  func lent(
    _ sealed: [UInt8], with key: SealingKey, _ context: (Transcript) -> Void = { _ in }
  ) throws -> [UInt8]? {
    var copy: [UInt8]?
    let isOpen = try sealed.withUnsafeBytes { sealed in
      try withOpened(sealed, with: key, context: context) { copy = [UInt8]($0) }
    }
    #expect(isOpen == (copy != nil))
    return copy
  }
}

func array(_ bytes: InlineArray<32, UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }
