/// Converts a stored value to the value that a program uses, for reading only.
public protocol PreferenceReadTransformation<Stored, Value>: Sendable {
  /// The type that is stored, or the result type of the previous transformation.
  associatedtype Stored: Sendable
  /// The type that the program uses.
  associatedtype Value: Sendable

  /// Returns the value that `stored` represents. If this throws, the read throws the same `PreferencesError`, or
  /// `malformed` with any other error as its cause. A message must not contain the value.
  func value(from stored: Stored) throws -> Value
}

/// Converts a stored value to the value that a program uses, and back.
///
/// A round trip must not change a value: `value(from: stored(from: x))` is `x`. If either direction throws, the read or
/// the write throws, and the stored value is intact.
public protocol PreferenceTransformation<Stored, Value>: PreferenceReadTransformation {
  /// Returns the stored form of `value`.
  func stored(from value: Value) throws -> Stored
}

extension PreferenceReadTransformation {
  /// Combines this transformation and `next`, for reading: `next` converts the result of this transformation.
  public func then<Next: PreferenceReadTransformation>(
    _ next: Next
  ) -> ReadingTransformation<Stored, Next.Value> where Next.Stored == Value {
    ReadingTransformation { stored in try next.value(from: value(from: stored)) }
  }

  func reading(_ stored: Stored) throws(PreferencesError) -> Value {
    do { return try value(from: stored) } catch let error as PreferencesError { throw error } catch {
      throw PreferencesError(.malformed, "what is stored cannot be transformed", cause: error)
    }
  }
}

extension PreferenceTransformation {
  /// Combines this transformation and `next`. A read applies this transformation first, a write applies `next` first.
  public func then<Next: PreferenceTransformation>(
    _ next: Next
  ) -> TwoWayTransformation<Stored, Next.Value> where Next.Stored == Value {
    TwoWayTransformation(
      reading: { stored in try next.value(from: value(from: stored)) },
      writing: { value in try stored(from: next.stored(from: value)) })
  }

  func writing(_ value: Value) throws(PreferencesError) -> Stored {
    do { return try stored(from: value) } catch let error as PreferencesError { throw error } catch {
      throw PreferencesError(.notStorable, "the value cannot be transformed for storing", cause: error)
    }
  }
}
