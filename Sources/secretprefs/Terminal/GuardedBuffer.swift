internal import VaultCore
internal import VaultSealing

/// Collects secret bytes in guarded memory.
final class GuardedBuffer {
  private var bytes: SecretBytes
  /// The bytes themselves, which do not move until there is no room for more: values are appended byte by byte.
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity = 4096
  private(set) var count = 0

  init() throws(VaultError) {
    var bytes = try SecretBytes(count: capacity)
    base = Self.base(&bytes)
    self.bytes = bytes
  }

  private static func base(_ bytes: inout SecretBytes) -> UnsafeMutablePointer<UInt8> {
    bytes.withUnsafeMutableBytes { $0.baseAddress!.assumingMemoryBound(to: UInt8.self) }
  }

  func append(_ byte: UInt8) throws(VaultError) {
    if count == capacity { try reserve(1) }
    base[count] = byte
    count += 1
  }

  func append(repeating byte: UInt8, count added: Int) throws(VaultError) {
    try reserve(added)
    bytes.withUnsafeMutableBytes { bytes in
      let new = UnsafeMutableRawBufferPointer(rebasing: bytes[count..<count + added])
      new.initializeMemory(as: UInt8.self, repeating: byte)
    }
    count += added
  }

  func append(_ more: UnsafeRawBufferPointer) throws(VaultError) {
    try reserve(more.count)
    bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: more) }
    count += more.count
  }

  /// Appends text that is not secret.
  func append(_ text: String) throws(VaultError) {
    try Array(text.utf8).withUnsafeBytes { text in Result { () throws(VaultError) in try append(text) } }.get()
  }

  /// Drops the bytes after the first `count`. They stay in the buffer until they are overwritten or it is wiped.
  func truncate(to count: Int) { self.count = count }

  private func reserve(_ more: Int) throws(VaultError) {
    guard count + more > capacity else { return }
    bytes = try bytes.grown(to: 2 * (count + more))
    base = Self.base(&bytes)
    capacity = bytes.count
  }

  func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withUnsafeBytes { (bytes) throws(E) in try body(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
  }
}

extension SecretBytes {
  /// Returns a copy with `count` bytes, zeros at the end.
  borrowing func grown(to count: Int) throws(VaultError) -> SecretBytes {
    var larger = try SecretBytes(count: count)
    larger.withUnsafeMutableBytes { target in withUnsafeBytes { target.copyMemory(from: $0) } }
    return larger
  }
}
