internal import Preferences
internal import VaultCore

/// What a plain file has: keys, and where their values are in the buffer that the file was read into.
struct PlainRecords {
  struct Value {
    var key: String
    let bytes: Range<Int>
    let line: Int
    var spelling = PlainSpelling.text
    var login: Login?
    /// What a record of this tool has besides.
    var record: ImportedRecord?
    /// Whether it is a secret, by what its format says; `nil` if it does not say. A user name, and a URL without a
    /// secret in it, is none.
    var isSecret: Bool?
    /// Why the value may not be what a user expects.
    var note: String?
    /// Why it is not imported. It still has its key: an earlier value of it is not what readers of the file get.
    var obstacle: Obstacle?
  }

  /// Why a value is not imported.
  enum Obstacle {
    /// The reason that the report gives.
    case left(String)
    /// Takes little room in the many values that have none.
    indirect case bad(PlainFault)
  }

  /// A login that a credential helper gives, which has attributes.
  enum Login { case docker(user: String), git }

  /// A part of the file about which the report has a line.
  struct Part {
    /// 0 if the source has no lines.
    let line: Int
    /// The last of its lines, if it has several.
    var lastLine: Int?
    let name: String
    let reason: String
    /// Whether the name is that of the file, and is shown with the line as compilers do.
    var isPlace = false

    /// Not for a terminal as it is: the name may have any characters.
    var text: String {
      guard !isPlace else { return "\(name):\(line): \(reason)" }
      let lines = lastLine.map { "lines \(line) to \($0)" } ?? "line \(line)"
      let place = (line > 0 ? [lines] : []) + (name.isEmpty ? [] : [name])
      return (place.isEmpty ? "" : place.joined(separator: ", ") + ": ") + reason
    }

    var json: JSON {
      let last: [(String, JSON)] = lastLine.map { [("lastLine", .unsigned(UInt64($0)))] } ?? []
      return .object(
        [("line", .unsigned(UInt64(line)))] + last + [("name", .string(name)), ("reason", .string(reason))])
    }
  }

  /// The most values, and the most parts that are left out. A short file can have many more than fit in memory.
  static let most = 100_000
  /// The most numbers of an entry that are tried.
  private static let mostNumbers = 10
  /// The most bytes of all names together.
  static let longestNames = 16 << 20

  private(set) var values: [Value] = []
  /// What is not imported.
  private(set) var skipped: [Part] = []
  /// What is imported and may be different from what a user expects.
  private(set) var notes: [Part] = []
  /// What cannot be imported, and makes the import fail unless `--skip` leaves it out.
  private(set) var faults: [PlainFault] = []
  /// The bad parts that `--skip` leaves out.
  private(set) var leftOut: [PlainFault] = []
  /// How often each entry name occurred.
  private var names: [String: Int] = [:]
  private var nameBytes = 0

  mutating func add(
    _ key: String, _ bytes: Range<Int>, line: Int, spelling: PlainSpelling = .text, login: Login? = nil,
    record: ImportedRecord? = nil, isSecret: Bool? = nil, note: String? = nil
  ) throws(PlainFault) {
    guard try count(key, line: line) else { return }
    values.append(
      Value(
        key: key, bytes: bytes, line: line, spelling: spelling, login: login, record: record, isSecret: isSecret,
        note: note))
  }

  /// Adds a value that is not imported. A name that is too long for a key is that of no other value.
  mutating func leave(_ key: String, _ obstacle: Obstacle, line: Int) throws(PlainFault) {
    guard key.utf8.count <= InputText.longestName else {
      return try leaveOut(Value(key: key, bytes: 0..<0, line: line), obstacle)
    }
    guard try count(key, line: line) else { return }
    values.append(Value(key: key, bytes: 0..<0, line: line, obstacle: obstacle))
  }

  /// Adds a line of the report about all values.
  mutating func note(_ reason: String) throws(PlainFault) { notes.append(Part(line: 0, name: "", reason: reason)) }

  /// - Parameter last: The last line of what is left out, if it has several.
  mutating func skip(_ name: String, _ reason: String, line: Int, through last: Int = 0) throws(PlainFault) {
    let name = Self.shown(name)
    guard try count(name, line: line) else { return }
    skipped.append(Part(line: line, lastLine: last > line ? last : nil, name: name, reason: reason))
  }

  /// Adds a bad part. Several of one line for the same reason are one.
  mutating func refuse(_ fault: PlainFault) throws(PlainFault) {
    if let last = faults.last, last.line == fault.line, last.name == fault.name, last.reason == fault.reason { return }
    guard faults.count < Self.most else { throw .tooMuch("more than \(Self.most) bad lines", line: fault.line) }
    faults.append(fault)
  }

  /// Counts a name before it is kept. Returns `false` if it is too long for one, which is a fault.
  private mutating func count(_ name: String, line: Int) throws(PlainFault) -> Bool {
    guard max(values.count, skipped.count) < Self.most else {
      throw .tooMuch("more than \(Self.most) values", line: line)
    }
    guard name.utf8.count <= InputText.longestName else {
      try refuse(.limit("a name of more than \(InputText.longestName) bytes", line: line))
      return false
    }
    nameBytes += name.utf8.count
    guard nameBytes <= Self.longestNames else {
      throw .tooMuch("the names have more than \(Self.longestNames) bytes", line: line)
    }
    return true
  }

  /// Adds an entry of a password manager: its fields become the keys `<name>/<field>`. Empty fields are left out. An
  /// entry with the name of an earlier one, or with a key of it, gets a number: `<name> (2)`. A field whose name is too
  /// long is bad, and the others are added.
  ///
  /// - Parameter name: the groups and the name, which is a ``title(_:)``, or none: see ``entryName(_:)``.
  mutating func add(entry name: String, _ fields: [Field], line: Int) throws(PlainFault) {
    let fields = fields.filter { !$0.bytes.isEmpty }
    guard !fields.isEmpty else { return try skip(name, "the entry is empty", line: line) }
    let isNamed = Self.entryName(name) == name
    let name = Self.entryName(name)
    guard Self.isKey(name) else { return try refuse(Self.notAKey(name, line)) }
    guard let entry = numbered(entry: name, fields) else {
      return try refuse(
        PlainFault(line: line, name: name, reason: "other entries have fields with the names of its keys"))
    }
    var tooLong = 0
    for field in fields {
      guard entry.utf8.count + 1 + field.name.utf8.count <= InputText.longestName else {
        tooLong += 1
        continue
      }
      let note = field.note ?? (isNamed ? nil : "the entry has neither a name nor a URL")
      try add(
        numbered("\(entry)/\(field.name)"), field.bytes, line: line, spelling: field.spelling,
        isSecret: field.isSecret, note: note)
    }
    guard tooLong > 0 else { return }
    let parts = counted(tooLong, "field has a key", "fields have keys")
    try refuse(
      PlainFault(
        line: line, name: entry, reason: "\(parts) of more than \(InputText.longestName) bytes", isLimit: true))
  }

  struct Field {
    let name: String
    let bytes: Range<Int>
    var spelling = PlainSpelling.text
    /// Whether the program that wrote the file knows it as a secret, or as a user name or URL; `nil` if it is neither.
    var isSecret: Bool?
    var note: String?

    /// - Parameter name: its name, if the file has one.
    init(
      _ name: String?, _ bytes: Range<Int>, spelling: PlainSpelling = .text, isSecret: Bool? = nil, note: String? = nil
    ) {
      self.isSecret = isSecret
      self.name = Self.name(name)
      self.bytes = bytes
      self.spelling = spelling
      self.note = note
    }

    /// The name of a field, which may have none in the file.
    static func name(_ name: String?) -> String { name.flatMap { $0.isEmpty ? nil : $0 } ?? "field" }
  }

  /// The name of an entry none of whose keys is that of an earlier entry, whose fields may have slashes in their names;
  /// `nil` if none is found soon. Looks at few names, so that the cost stays linear.
  private mutating func numbered(entry name: String, _ fields: [Field]) -> String? {
    for _ in 0..<Self.mostNumbers {
      let entry = numbered(name)
      if !fields.contains(where: { names["\(entry)/\($0.name)"] != nil }) { return entry }
    }
    return nil
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
  /// values. What is bad is left out if it is among `skips`, and is otherwise in ``faults``.
  ///
  /// - Parameter laterWins: whether the last of several values with one key counts, as in a dotenv file, also if it is
  ///   not imported itself. Otherwise the second one is bad.
  /// - Parameter keepsServices: whether records stay in their services, and `keepsGroups` whether they stay in their
  ///   access groups.
  mutating func finish(
    prefix: String, laterWins: Bool, keepingServices keepsServices: Bool = true,
    keepingGroups keepsGroups: Bool = false, skipping skips: SkippedParts, in bytes: UnsafeRawBufferPointer
  ) throws {
    // By the access group and the service of a record, and the key.
    var places: [[Vault.Name?]: [Vault.Name: Int]] = [:]
    // The value that counts for each key.
    var kept: [Value] = []
    for var value in values {
      value.key = prefix + value.key
      if value.isSecret == false, SecretMark.mayBeSecret(bytes[value.bytes]) { value.isSecret = true }
      value.obstacle = value.obstacle ?? Self.obstacle(to: value, in: bytes)
      let target: (names: [Vault.Name?], key: Vault.Name)
      do throws(PlainFault) {
        target = try Self.target(of: value, keepingServices: keepsServices, keepingGroups: keepsGroups)
      } catch {
        try leaveOut(value, value.obstacle ?? .bad(error))
        continue
      }
      guard let place = places[target.names]?[target.key] else {
        places[target.names, default: [:]][target.key] = kept.count
        kept.append(value)
        continue
      }
      let earlier = kept[place]
      if laterWins {
        try leaveOut(earlier, earlier.obstacle ?? .left("a later line has the same name"))
        kept[place] = value
      } else {
        try refuse(Self.repeated(value, earlier))
      }
    }
    for value in kept { if let obstacle = value.obstacle { try leaveOut(value, obstacle) } }
    kept.removeAll { $0.obstacle != nil }
    for value in kept {
      let isData =
        value.spelling == .text && !isUTF8(UnsafeRawBufferPointer(rebasing: bytes[value.bytes]))
      // `run` is not for the logins of a credential helper.
      let settingNote = value.login == nil ? VariableName.note(on: value.key) : nil
      let reasons = [isData ? "not UTF-8, so it becomes data" : nil, value.note].compactMap { $0 }
      for reason in reasons.isEmpty ? [settingNote].compactMap({ $0 }) : reasons {
        notes.append(Part(line: value.line, name: value.key, reason: reason))
      }
    }
    values = kept
    faults.sort { $0.line < $1.line }
    let (left, remaining) = try skips.divide(faults)
    for fault in left { skipped.append(fault.part) }
    leftOut = left
    faults = remaining
    skipped.sort { $0.line < $1.line }
    notes.sort { $0.line < $1.line }
  }

  /// Why a value is not imported, by its bytes.
  private static func obstacle(to value: Value, in bytes: UnsafeRawBufferPointer) -> Obstacle? {
    if value.spelling == .text, let name = ForeignReference.name(of: bytes[value.bytes]) {
      return .left("\(name), not the value")
    }
    guard value.bytes.count > ValueReader.longest else { return nil }
    return .bad(
      PlainFault(
        line: value.line, name: shown(value.key), reason: "a value of more than \(ValueReader.longest) bytes",
        isLimit: true))
  }

  /// The access group and the service of a record, if it stays in them, and the key of a value.
  private static func target(
    of value: Value, keepingServices keepsServices: Bool, keepingGroups keepsGroups: Bool
  ) throws(PlainFault) -> (names: [Vault.Name?], key: Vault.Name) {
    func name(_ text: String) throws(PlainFault) -> Vault.Name {
      guard let name = Self.key(text) else { throw Self.notAKey(text, value.line) }
      return name
    }
    let key = try name(value.key)
    guard let record = value.record else { return ([nil, nil], key) }
    let service = try name(record.service)
    let group = try record.group.map { (group) throws(PlainFault) in try name(group) }
    return ([keepsGroups ? group : nil, keepsServices ? service : nil], key)
  }

  private static func repeated(_ value: Value, _ earlier: Value) -> PlainFault {
    let isKept = earlier.obstacle == nil
    let other =
      earlier.line == value.line
      ? "an earlier one in this line" + (isKept ? ", which is kept" : "") : "in line \(earlier.line)"
    return PlainFault(line: value.line, name: value.key, reason: "the same key as \(other)")
  }

  /// Names a value that is not imported, whose name is counted or cut.
  private mutating func leaveOut(_ value: Value, _ obstacle: Obstacle) throws(PlainFault) {
    switch obstacle {
    case .left(let reason):
      skipped.append(Part(line: value.line, name: Self.shown(value.key), reason: reason))
    case .bad(let fault): try refuse(fault)
    }
  }

  /// The name under which an entry is imported: `untitled` without a name, also behind the slash of a group.
  static func entryName(_ name: String) -> String { name.isEmpty || name.last == "/" ? name + "untitled" : name }

  /// A title as the name of an entry: without slashes at its end, behind which a name is missing. Empty for blanks.
  static func title(_ text: String) -> String {
    // One that was cut stays too long.
    guard text.utf8.count <= InputText.longestName else { return text }
    var title = text[...]
    while title.last == "/" { title.removeLast() }
    return title.allSatisfy(\.isWhitespace) ? "" : String(title)
  }

  static func isKey(_ name: String) -> Bool { key(name) != nil }

  private static func key(_ name: String) -> Vault.Name? {
    do throws(VaultError) { return try Vault.Name(name) } catch { return nil }
  }

  private static func notAKey(_ name: String, _ line: Int) -> PlainFault {
    PlainFault(
      line: line, name: shown(name), reason: "not a key: a key has 1 to 1024 bytes and no control characters")
  }

  /// A name, or the beginning of one that is too long for a key.
  static func shown(_ name: String) -> String {
    name.utf8.count <= InputText.longestName ? name : String(name.unicodeScalars.prefix(40)) + "…"
  }
}
