public import Preferences
public import Foundation

/// The values in an archive that an `NSKeyedArchiver` has written, such as an archive of an older program.
///
/// ```swift
/// let archive = try KeyedArchive(data)
/// let recent = try archive.value(forKey: "root")          // .array, .dictionary, …
/// let layer = KeysPreferences(name: "old settings", keys: { archive.keys }, value: archive.value(forKey:))
/// ```
///
/// No object is created and no unarchiver is used. The archive is a property list, binary or XML. This type follows its
/// references itself, for allowed classes only, within 128 levels and 64 MiB of values. So untrusted bytes can be read;
/// on Linux, they can make `NSKeyedUnarchiver` end the process. Archives are not written.
///
/// An `NSUUID` is read as a string, and a set as an array in the order in which sets are stored. A null is refused. On
/// Linux, `NSKeyedArchiver` writes `true`, `1` and `1.0` in one archive as the value that was encoded first.
public struct KeyedArchive: Sendable {
  private let objects: [PreferenceValue]
  private let top: [String: PreferenceValue]
  private let allowed: Set<ArchivedClass>

  /// Reads the property list. Its objects are read by `value(forKey:)`.
  ///
  /// - Parameter allowed: the classes whose objects are read.
  /// - Throws: ``PreferencesError/Code/malformed``, ``PreferencesError/Code/limitExceeded``.
  public init(
    _ data: Data, allowing allowed: Set<ArchivedClass> = Set(ArchivedClass.allCases)
  ) throws(PreferencesError) {
    let list = try PropertyListFormat.members(of: Array(data), readingReferences: true)
    guard list["$archiver"] == "NSKeyedArchiver", list["$version"] == 100_000,
      case .array(let objects) = list["$objects"], case .dictionary(let top) = list["$top"]
    else { throw PreferencesError(.malformed, "the property list is no keyed archive") }
    self.objects = objects
    self.top = top
    self.allowed = allowed
  }

  /// The keys of the archive, in ascending order; `root` for an archive of one object.
  public var keys: [String] {
    // The archiver adds a `$` to keys that begin with `$`, and numbers values without a key as `$0`.
    top.keys.compactMap { key in
      key.hasPrefix("$$") ? String(key.dropFirst()) : key.hasPrefix("$") ? nil : key
    }.sorted()
  }

  /// The value archived under `key`; `nil` if there is no such key.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` for null, for a dictionary whose keys are not strings, and for a
  ///   class that is not allowed; ``PreferencesError/Code/malformed``, also for an object that contains itself;
  ///   ``PreferencesError/Code/limitExceeded``.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    guard let member = top[key.hasPrefix("$") ? "$" + key : key] else { return nil }
    var walk = Walk(archive: self)
    return try walk.value(member, depth: 0)
  }

  /// Follows references from one value.
  private struct Walk {
    let archive: KeyedArchive
    private var budget = ValueBudget()
    /// The numbers of the objects that contain the current object.
    private var around: Set<Int> = []

    init(archive: KeyedArchive) { self.archive = archive }

    /// The value of a member, which is either an inline value or a reference to an object.
    mutating func value(_ member: PreferenceValue, depth: Int) throws(PreferencesError) -> PreferenceValue {
      guard let number = Self.reference(member) else { return try simple(member, depth: depth) }
      // Object 0 represents null.
      guard number != 0 else { throw PreferencesError(.typeMismatch, "null is no preference") }
      let object = try object(number)
      guard around.insert(number).inserted else { throw Self.malformed("object \(number) contains itself") }
      defer { around.remove(number) }
      guard case .dictionary(let members) = object else { return try simple(object, depth: depth) }
      do throws(PreferencesError) { return try value(of: members, depth: depth) } catch {
        // Only the innermost object is named.
        throw error.message.hasPrefix("object ") ? error : error.about("object \(number)")
      }
    }

    private func object(_ number: Int) throws(PreferencesError) -> PreferenceValue {
      guard archive.objects.indices.contains(number) else { throw Self.malformed("there is no object \(number)") }
      return archive.objects[number]
    }

    /// A value without a class of its own.
    private mutating func simple(_ value: PreferenceValue, depth: Int) throws(PreferencesError) -> PreferenceValue {
      switch value {
      case .string(let text): try spend(text.utf8.count, on: .string, depth: depth)
      case .data(let data): try spend(data.count, on: .data, depth: depth)
      case .date: try spend(8, on: .date, depth: depth)
      case .bool, .integer, .unsignedInteger, .double: try spend(8, on: .number, depth: depth)
      case .url, .array, .dictionary: throw Self.malformed("a collection without a class")
      }
      return value
    }

    private mutating func spend(_ count: Int, on kind: ArchivedClass, depth: Int) throws(PreferencesError) {
      guard archive.allowed.contains(kind) else { throw Self.notAllowed }
      try budget.spend(count, depth: depth)
    }

    private mutating func value(
      of members: [String: PreferenceValue], depth: Int
    ) throws(PreferencesError) -> PreferenceValue {
      let kind = try kind(of: members)
      try spend(0, on: kind, depth: depth)
      switch kind {
      case .string: return try part("NS.string", of: members, as: .string, depth: depth)
      case .data: return try part("NS.data", of: members, as: .data, depth: depth)
      case .number: throw Self.malformed("a number as an object")
      case .date:
        guard case .double(let seconds) = members["NS.time"], seconds.isFinite else {
          throw Self.malformed("a date without a time")
        }
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
      case .url: return .url(try url(members, depth: depth))
      case .uuid:
        guard case .data(let data) = members["NS.uuidbytes"], let uuid = Self.uuid(data) else {
          throw Self.malformed("a UUID without its 16 bytes")
        }
        return uuid.preferenceValue
      case .array: return .array(try values("NS.objects", of: members, depth: depth + 1))
      case .set:
        let values = try values("NS.objects", of: members, depth: depth + 1)
        return Set(values).preferenceValue
      case .dictionary: return .dictionary(try dictionary(members, depth: depth + 1))
      }
    }

    private func kind(of members: [String: PreferenceValue]) throws(PreferencesError) -> ArchivedClass {
      guard let number = members["$class"].flatMap(Self.reference), case .dictionary(let kind) = try object(number),
        case .string(let name) = kind["$classname"]
      else { throw Self.malformed("an object without a class") }
      guard let kind = ArchivedClass(className: name) else { throw Self.notAllowed }
      return kind
    }

    /// A member of an object, which must be of the given kind: an inline value or a reference to an object.
    private mutating func part(
      _ name: String, of members: [String: PreferenceValue], as kind: PreferenceValue.Kind, depth: Int
    ) throws(PreferencesError) -> PreferenceValue {
      guard let member = members[name] else { throw Self.malformed("an object without its content") }
      let value = try value(member, depth: depth + 1)
      guard value.kind == kind else { throw Self.malformed("an object with another content") }
      return value
    }

    private mutating func values(
      _ name: String, of members: [String: PreferenceValue], depth: Int
    ) throws(PreferencesError) -> [PreferenceValue] {
      guard case .array(let references) = members[name] else { throw Self.malformed("a collection without elements") }
      var values: [PreferenceValue] = []
      for reference in references { values.append(try value(reference, depth: depth)) }
      return values
    }

    private mutating func dictionary(
      _ members: [String: PreferenceValue], depth: Int
    ) throws(PreferencesError) -> [String: PreferenceValue] {
      let keys = try values("NS.keys", of: members, depth: depth)
      let values = try values("NS.objects", of: members, depth: depth)
      guard keys.count == values.count else { throw Self.malformed("not as many values as keys") }
      var dictionary: [String: PreferenceValue] = [:]
      for (key, value) in zip(keys, values) {
        guard case .string(let key) = key else {
          throw PreferencesError(.typeMismatch, "a dictionary whose keys are no strings")
        }
        // It is undefined which of the two values is meant.
        guard dictionary.updateValue(value, forKey: key) == nil else { throw Self.malformed("a repeated key") }
      }
      return dictionary
    }

    private mutating func url(
      _ members: [String: PreferenceValue], depth: Int
    ) throws(PreferencesError) -> URL {
      guard case .string(let text) = try part("NS.relative", of: members, as: .string, depth: depth) else {
        throw Self.malformed("a URL without its text")
      }
      var base: URL?
      if let member = members["NS.base"], Self.reference(member) != 0 {
        guard case .url(let url) = try value(member, depth: depth + 1) else {
          throw Self.malformed("a URL relative to something else")
        }
        base = url
      }
      guard let url = URL(string: text, relativeTo: base) else { throw Self.malformed("a URL that is not valid") }
      return url.absoluteURL
    }

    private static func uuid(_ data: Data) -> UUID? {
      guard data.count == 16 else { return nil }
      return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The number of the object that a member refers to, in either encoding of property lists.
    private static func reference(_ member: PreferenceValue) -> Int? {
      guard case .dictionary(let members) = member, members.count == 1, case .integer(let number) = members["CF$UID"]
      else { return nil }
      return Int(number)
    }

    private static let notAllowed = PreferencesError(.typeMismatch, "its class is not among those that are allowed")

    private static func malformed(_ what: String) -> PreferencesError {
      PreferencesError(.malformed, "\(what) (keyed archive)")
    }
  }
}

extension KeyedArchive: CustomStringConvertible, CustomReflectable {
  /// The number of values, without the values.
  public var description: String { "keyed archive with \(keys.count) keys" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
