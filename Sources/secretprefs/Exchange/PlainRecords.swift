internal import PreferenceFiles
internal import Preferences
internal import VaultCore

/// What a plain file has: keys, and where their values are in the buffer that the file was read into.
struct PlainRecords {
  struct Value {
    var key: String
    let bytes: Range<Int>
    let line: Int
    var login: Login?
  }

  /// A login that a credential helper gives, which has attributes.
  enum Login { case docker(user: String), git }

  /// A part of the file that is not imported.
  struct Skipped {
    let line: Int
    let name: String
    let reason: String

    var text: String { "line \(line)" + (name.isEmpty ? "" : ", \(displayed(name))") + ": \(reason)" }
  }

  /// The most values, and the most parts that are left out. A short file can have many more than fit in memory.
  static let most = 100_000
  /// The most bytes of all names together.
  static let longestNames = 16 << 20

  private(set) var values: [Value] = []
  private(set) var skipped: [Skipped] = []
  /// How often each entry name occurred.
  private var names: [String: Int] = [:]
  private var nameBytes = 0

  mutating func add(_ key: String, _ bytes: Range<Int>, line: Int, login: Login? = nil) throws(PreferencesError) {
    try count(key, line: line)
    values.append(Value(key: key, bytes: bytes, line: line, login: login))
  }

  mutating func skip(_ name: String, _ reason: String, line: Int) throws(PreferencesError) {
    try count(name, line: line)
    skipped.append(Skipped(line: line, name: name, reason: reason))
  }

  /// Counts a name before it is kept.
  private mutating func count(_ name: String, line: Int) throws(PreferencesError) {
    guard max(values.count, skipped.count) < Self.most else {
      throw .limit("more than \(Self.most) values", line: line)
    }
    guard name.utf8.count <= SourceText.longestName else {
      throw .limit("a name of more than \(SourceText.longestName) bytes", line: line)
    }
    nameBytes += name.utf8.count
    guard nameBytes <= Self.longestNames else {
      throw .limit("the names have more than \(Self.longestNames) bytes", line: line)
    }
  }

  /// Adds an entry of a password manager: its fields become the keys `<name>/<field>`. Empty fields are left out. An
  /// entry with the name of an earlier one gets a number: `<name> (2)`.
  mutating func add(
    entry name: String, _ fields: [(name: String, bytes: Range<Int>)], line: Int
  ) throws(PreferencesError) {
    let fields = fields.filter { !$0.bytes.isEmpty }
    guard !fields.isEmpty else { return try skip(name, "the entry is empty", line: line) }
    guard !name.isEmpty else { return try skip(name, "the entry has neither a name nor a URL", line: line) }
    let name = numbered(name)
    for field in fields { try add(numbered("\(name)/\(field.name)"), field.bytes, line: line) }
  }

  private mutating func numbered(_ name: String) -> String {
    var name = name
    while let count = names[name] {
      names[name] = count + 1
      name += " (\(count + 1))"
    }
    names[name] = 1
    return name
  }

  /// Puts `prefix` in front of every key, leaves out what is no value, and checks the keys and the lengths of the
  /// values.
  ///
  /// - Parameter laterWins: whether the last of several values with one key counts, as in a dotenv file. Otherwise the
  ///   second one is an error.
  mutating func finish(
    prefix: String, laterWins: Bool, in bytes: UnsafeRawBufferPointer
  ) throws(PreferencesError) {
    var places: [Vault.Name: Int] = [:]
    var kept: [Value] = []
    for var value in values {
      if let name = ForeignReference.name(of: bytes[value.bytes]) {
        try skip(value.key, "\(name), not the value", line: value.line)
        continue
      }
      value.key = prefix + value.key
      guard value.bytes.count <= ValueReader.longest else {
        throw .limit("a value of more than \(ValueReader.longest) bytes", line: value.line)
      }
      guard let place = places.updateValue(kept.count, forKey: try Self.name(of: value)) else {
        kept.append(value)
        continue
      }
      guard laterWins else {
        throw PreferencesError(.malformed, "line \(value.line): the same key as in line \(kept[place].line)")
      }
      try skip(value.key, "a later line has the same name", line: kept[place].line)
      kept[place] = value
      places[try Self.name(of: value)] = place
    }
    values = kept
  }

  private static func name(of value: Value) throws(PreferencesError) -> Vault.Name {
    do throws(VaultError) { return try Vault.Name(value.key) } catch {
      throw PreferencesError(
        .invalidKey, "line \(value.line): not a key: a key has 1 to 1024 bytes and no control characters")
    }
  }
}
