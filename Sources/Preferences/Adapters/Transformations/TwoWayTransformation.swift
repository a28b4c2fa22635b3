/// A transformation with a pair of closures. Also erases the type of any other transformation.
public struct TwoWayTransformation<Stored: Sendable, Value: Sendable>: PreferenceTransformation {
  private let read: @Sendable (Stored) throws -> Value
  private let write: @Sendable (Value) throws -> Stored

  /// Creates a transformation that reads with one closure and writes with its inverse.
  public init(
    reading: @escaping @Sendable (Stored) throws -> Value, writing: @escaping @Sendable (Value) throws -> Stored
  ) {
    read = reading
    write = writing
  }

  /// Creates a transformation that forwards to `transformation`.
  public init(_ transformation: some PreferenceTransformation<Stored, Value>) {
    self.init(reading: transformation.value(from:), writing: transformation.stored(from:))
  }

  public func value(from stored: Stored) throws -> Value { try read(stored) }
  public func stored(from value: Value) throws -> Stored { try write(value) }
}
