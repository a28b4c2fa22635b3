internal import Glibc

/// A place random bytes come from: the system, or a fixed sequence in tests.
@safe public struct RandomSource: Sendable {
  private let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

  /// Makes a source that fills the buffers it is given with `body`.
  public init(_ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) { unsafe self.body = body }

  /// The system's generator (`getrandom`). Ends the process with a message where the system stops giving random bytes;
  /// where it never gave any, making keys is refused before.
  public static let system = unsafe RandomSource { buffer in
    guard unsafe fillFromSystem(buffer) else { fatalError("the system refuses random bytes: errno \(errno)") }
  }

  /// Whether the system gave the bytes. It is asked here and not by libsodium, which would end the process without a
  /// message.
  static func fillFromSystem(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    for start in stride(from: 0, to: buffer.count, by: 256) {  // the most that one call gives
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + 256, buffer.count)])
      guard unsafe getentropy(part.baseAddress!, part.count) == 0 else { return false }
    }
    return true
  }

  /// Fills `buffer` with the next bytes.
  public func fill(_ buffer: UnsafeMutableRawBufferPointer) { unsafe body(buffer) }

  /// Gives the next `count` bytes. For identifiers and salts, not for keys.
  public func bytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
      initialized = count
    }
  }
}
