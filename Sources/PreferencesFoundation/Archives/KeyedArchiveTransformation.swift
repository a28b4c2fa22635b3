public import Preferences
public import Foundation

/// Reads data that an `NSKeyedArchiver` has written, such as a value that an older program stored; see
/// ``KeyedArchive``. The transformation is for reading only. Use a migration to store the value in a current form.
///
/// ```swift
/// let old = PreferenceKey<Data?>("recent").read(through: KeyedArchiveTransformation<[String]>())
/// let recent = try preferences.value(for: old)                                        // [String]?
/// ```
///
/// Reading throws ``PreferencesError/Code/malformed`` for data that is not an archive, and the errors of
/// ``PreferenceConvertible/init(preferenceValue:)`` and ``KeyedArchive/value(forKey:)`` for other archives.
public struct KeyedArchiveTransformation<Value: PreferenceConvertible>: PreferenceReadTransformation {
  private let key: String
  private let allowed: Set<ArchivedClass>

  /// - Parameters:
  ///   - key: the key of the archived value; `root` for an archive of one object.
  ///   - allowed: the classes whose objects are read.
  public init(
    _ type: Value.Type = Value.self, forKey key: String = "root",
    allowing allowed: Set<ArchivedClass> = Set(ArchivedClass.allCases)
  ) {
    self.key = key
    self.allowed = allowed
  }

  public func value(from stored: Data) throws(PreferencesError) -> Value {
    guard let value = try KeyedArchive(stored, allowing: allowed).value(forKey: key) else {
      throw PreferencesError(.malformed, "the archive has nothing under the key \"\(key)\"")
    }
    return try Value(preferenceValue: value)
  }
}
