internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Reads secrets from descriptors into guarded memory, up to a limit.
enum ValueReader {
  /// The longest value the format allows: 16 MiB.
  static let longest = 16 << 20

  /// Reads to the end of the file. Buffers that become too small are wiped.
  ///
  /// - Parameter isWhole: whether what has been read is all that is needed, and the rest is left unread. Also gets the
  ///   number of bytes that it has seen before.
  static func read(
    _ descriptor: Int32, atMost limit: Int, _ step: String,
    until isWhole: (UnsafeRawBufferPointer, _ seen: Int) -> Bool = { _, _ in false }
  ) throws -> SecretBytes {
    var bytes = try SecretBytes(count: min(expected(descriptor), limit) + 1)
    var count = 0
    while let more = try read(descriptor, into: &bytes, from: count, step) {
      let seen = count
      count += more
      guard count <= limit else {
        // The usual hint is about values.
        let cure = limit == longest ? nil : Cure(hint: "split the file, or take out what is not needed")
        throw VaultError(.valueTooLarge, "\(step): more than \(limit) bytes", cause: cure)
      }
      if bytes.withUnsafeBytes({ isWhole(UnsafeRawBufferPointer(rebasing: $0[..<count]), seen) }) { break }
      if count == bytes.count { bytes = try bytes.grown(to: min(2 * count, limit + 1)) }
    }
    return try bytes.prefix(count)
  }

  /// The number of bytes read, or `nil` at the end.
  private static func read(
    _ descriptor: Int32, into bytes: inout SecretBytes, from start: Int, _ step: String
  ) throws(ToolError) -> Int? {
    let count = bytes.withUnsafeMutableBytes { bytes in
      readWaiting(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
    }
    guard count >= 0 else { throw .io(step, errno) }
    return count == 0 ? nil : count
  }

  /// The size of a regular file, or a default size for anything else.
  private static func expected(_ descriptor: Int32) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 4095 }
    return Int(status.st_size)
  }
}
