import Synchronization

/// Preferences from an XML or binary property list file whose top level is a dictionary, read-only.
///
/// Every value comes back with its type: `<true/>`, `<integer>1</integer>` and `<real>1</real>` are a
/// bool, an integer and a double. Integers above `Int64.max` are unsigned; the format has no URLs, so
/// those are strings that ``url(forKey:)`` parses.
///
/// A dot in a key leads into dictionaries. `server.port` is the entry of that name if there is one, else the
/// entry `port` of the dictionary `server`; inside it the rest of the key is looked up by the same rule.
///
/// Shared by reference; a lookup sees the file as it was when it was last read.
public final class PropertyListPreferences: PreferencesReader {
  /// The largest file that is read, in bytes (16 MiB).
  public static let maximumByteCount = 16 << 20

  public let name: String
  public let path: String
  private let values: Mutex<[String: PreferenceValue]>

  /// Reads the file at `path`, which must be a regular file.
  ///
  /// - Throws: ``PreferencesError/Code/notFound``, ``PreferencesError/Code/unreadable``,
  ///   ``PreferencesError/Code/malformed``, or ``PreferencesError/Code/limitExceeded`` when the file has
  ///   more than 16 MiB, is nested deeper than 128 levels, or would unfold into more than 64 MiB.
  public init(at path: String) throws(PreferencesError) {
    name = "property list \(path)"
    self.path = path
    values = Mutex(try Self.read(path))
  }

  /// Reads the file again.
  ///
  /// When it throws, with the codes of ``init(at:)``, the values from before stay.
  public func reload() throws(PreferencesError) {
    let fresh = try Self.read(path)
    values.withLock { $0 = fresh }
  }

  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return Self.find(key, in: values.withLock { $0 })
  }

  /// As ``value(forKey:)``, with a string parsed where a URL is wanted.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/typeMismatch`` when the
  ///   string is no URL.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    let value = try value(forKey: key)
    guard kind == .url, case .string(let text) = value else { return value }
    guard let url = PreferenceText.value(text, as: .url) else {
      throw PreferencesError(.typeMismatch, "the string does not parse as url").about(key: key)
    }
    return url
  }

  /// The keys in ascending order; a dictionary is listed by its entries, as `server.port`.
  public func keys() -> [String] {
    var keys: Set<String> = []
    Self.collectKeys(of: values.withLock { $0 }, below: "", into: &keys)
    return keys.filter(PreferenceKeyName.isValid).sorted()
  }

  private static func read(_ path: String) throws(PreferencesError) -> [String: PreferenceValue] {
    do {
      return try PropertyListFormat.dictionary(from: try RegularFile.read(path, upTo: maximumByteCount))
    } catch {
      throw error.about("property list \"\(path)\"")
    }
  }

  private static func find(_ key: String, in values: [String: PreferenceValue]) -> PreferenceValue? {
    var values = values
    var rest = key[...]
    while true {
      if let value = values[String(rest)] { return value }
      guard let dot = rest.firstIndex(of: "."), case .dictionary(let inner) = values[String(rest[..<dot])]
      else { return nil }
      values = inner
      rest = rest[rest.index(after: dot)...]
    }
  }

  private static func collectKeys(
    of values: [String: PreferenceValue], below prefix: String, into keys: inout Set<String>
  ) {
    for (name, value) in values {
      let key = prefix + name
      // Nothing below a key that is too long can be asked for, and joining it on would be quadratic.
      guard key.utf8.count <= PreferenceKeyName.maximumByteCount else { continue }
      // A lookup enters a dictionary by the part before the first dot, so one with a dot is a leaf.
      if case .dictionary(let inner) = value, !inner.isEmpty, !name.contains(".") {
        collectKeys(of: inner, below: key + ".", into: &keys)
      } else {
        keys.insert(key)
      }
    }
  }
}

extension PropertyListPreferences: CustomStringConvertible, CustomReflectable {}
