/// A transformation with one closure, for reading only: no key, subscript or method writes with this transformation.
public struct ReadingTransformation<Stored: Sendable, Value: Sendable>: PreferenceReadTransformation {
  private let read: @Sendable (Stored) throws -> Value

  /// Creates a transformation that reads with `reading`.
  public init(_ reading: @escaping @Sendable (Stored) throws -> Value) { read = reading }

  public func value(from stored: Stored) throws -> Value { try read(stored) }
}
