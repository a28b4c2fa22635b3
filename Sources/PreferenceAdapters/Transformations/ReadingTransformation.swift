internal import Preferences

/// A transformation made of one closure, for reading only: there is no key, subscript or call that writes through it.
public struct ReadingTransformation<Stored: Sendable, Value: Sendable>: PreferenceReadTransformation {
  private let read: @Sendable (Stored) throws -> Value

  /// Creates a transformation that reads with `reading`.
  public init(_ reading: @escaping @Sendable (Stored) throws -> Value) { read = reading }

  public func value(from stored: Stored) throws -> Value { try read(stored) }
}
