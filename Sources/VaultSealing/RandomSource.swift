internal import CVaultSodium

/// A place random bytes come from: the system, or a fixed sequence in tests.
@safe public struct RandomSource: Sendable {
  private let body: @Sendable (UnsafeMutableRawBufferPointer) -> Void

  /// Makes a source that fills the buffers it is given with `body`.
  public init(_ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) { unsafe self.body = body }

  /// The system's generator (`randombytes_buf`).
  public static let system = unsafe RandomSource { buffer in
    GuardedMemory.start()
    if let base = buffer.baseAddress { unsafe randombytes_buf(base, buffer.count) }
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
