internal import DurableFiles

/// A source of random bytes: the system, or a fixed sequence in tests.
@safe public struct RandomSource: Sendable {
  private let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

  /// Creates a source that fills buffers with `body`.
  public init(_ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) { unsafe self.body = body }

  /// The system's generator (`getentropy`). If the system provides no random bytes, creating keys throws
  /// ``VaultError/Code/io``. If it stops providing them later, the process ends with a message.
  public static let system = unsafe RandomSource { buffer in
    guard unsafe fillWithRandomBytes(buffer) else {
      // There is no safe way to continue: keys and nonces made from any other bytes could be predicted.
      fatalError("the system refuses random bytes: errno \(errno)")  // never returns predictable bytes
    }
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
