internal import Glibc

/// A source of random bytes: the system, or a fixed sequence in tests.
@safe public struct RandomSource: Sendable {
  private let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

  /// Creates a source that fills buffers with `body`.
  public init(_ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) { unsafe self.body = body }

  /// The system's generator (`getentropy`). If the system provides no random bytes, creating keys throws
  /// ``VaultError/Code/io``. If it stops providing them later, the process ends with a message.
  public static let system = unsafe RandomSource { buffer in
    guard unsafe fillFromSystem(buffer) else {
      // There is no safe way to continue: keys and nonces of other bytes could be predicted.
      fatalError("the system refuses random bytes: errno \(errno)")  // never returns predictable bytes
    }
  }

  /// Fills `buffer`, and returns whether the system provided the bytes. libsodium would end the process without a
  /// message instead.
  static func fillFromSystem(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    for start in stride(from: 0, to: buffer.count, by: 256) {  // the maximum of one call
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + 256, buffer.count)])
      guard unsafe getentropy(part.baseAddress!, part.count) == 0 else { return false }
    }
    return true
  }

  /// Fills `buffer` with random bytes.
  public func fill(_ buffer: UnsafeMutableRawBufferPointer) { unsafe body(buffer) }

  /// Returns `count` random bytes, for identifiers and salts. Keys are created in guarded memory instead.
  public func bytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
      initialized = count
    }
  }
}
