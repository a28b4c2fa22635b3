internal import Preferences

/// A way from what is stored to the value that a program works with, and no way back: it can read, never write.
public protocol PreferenceReadTransformation<Stored, Value>: Sendable {
  /// What is stored, or what the transformation before this one gives.
  associatedtype Stored: Sendable
  /// What the program works with.
  associatedtype Value: Sendable

  /// The value that `stored` stands for. What it throws is thrown by the read; a message must not hold the value.
  func value(from stored: Stored) throws -> Value
}

/// A way from what is stored to the value that a program works with, and back.
///
/// What goes there and back is unchanged: `value(from: stored(from: x))` is `x`. When either direction throws, the read
/// or the write throws, and what is stored stays; nothing is ever removed for it.
public protocol PreferenceTransformation<Stored, Value>: PreferenceReadTransformation {
  /// What `value` is stored as.
  func stored(from value: Value) throws -> Stored
}

extension PreferenceReadTransformation {
  /// This one, then `next`, for reading.
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
  /// This one, then `next`: a read goes through this one first, a write through `next` first.
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
