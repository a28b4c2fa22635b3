public import PreferenceAdapters
public import Preferences
public import Foundation

/// Reads data that an `NSKeyedArchiver` has written, as older programs stored what they could not store otherwise; see
/// ``KeyedArchive``. It reads and never writes: a migration then stores the value in a form of today.
///
/// ```swift
/// let old = PreferenceKey<Data?>("recent").read(through: KeyedArchiveTransformation<[String]>())
/// let recent = try preferences.value(for: old)                                        // [String]?
/// ```
///
/// Data that is no archive throws ``PreferencesError/Code/malformed``, and an archive of something else what
/// ``PreferenceConvertible/init(preferenceValue:)`` and ``KeyedArchive/value(forKey:)`` throw.
public struct KeyedArchiveTransformation<Value: PreferenceConvertible>: PreferenceReadTransformation {
  private let key: String
  private let allowed: Set<ArchivedClass>

  /// - Parameters:
  ///   - key: under which key the value was archived; `root` is that of an archive of one object.
  ///   - allowed: the classes whose objects are read.
  public init(
    _ type: Value.Type = Value.self, forKey key: String = "root",
    allowing allowed: Set<ArchivedClass> = Set(ArchivedClass.allCases)
  ) {
    (self.key, self.allowed) = (key, allowed)
  }

  public func value(from stored: Data) throws(PreferencesError) -> Value {
    guard let value = try KeyedArchive(stored, allowing: allowed).value(forKey: key) else {
      throw PreferencesError(.malformed, "the archive has nothing under the key \"\(key)\"")
    }
    return try Value(preferenceValue: value)
  }
}
