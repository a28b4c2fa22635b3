/// The entries of a dictionary of a property list. Names can be equal and have different bytes, such as with composed
/// and decomposed accents. They are one name with a dictionary of one member, `$members`, so that reading the name as
/// another type fails, and a file that is written keeps all of them.
struct EqualNames {
  private static let mark = "$members"

  private var added = NameSpellings<(name: String, value: PreferenceValue)>()

  /// Adds an entry.
  ///
  /// - Returns: false if the same name was added before.
  mutating func add(_ value: PreferenceValue, named name: String) -> Bool {
    guard !added.contains(spelling: name) else { return false }
    added.add((name, value), named: name)
    return true
  }

  /// The entries that were added, by their names.
  var members: [String: PreferenceValue] {
    var members = added.first.mapValues(\.value)
    for (name, all) in added.equal {
      members[name] = [Self.mark: .array(all.flatMap { [.string($0.name), $0.value] })]
    }
    return members
  }

  /// The entries to write, in ascending order of their names.
  static func entries(of members: [String: PreferenceValue]) -> [(key: String, value: PreferenceValue)] {
    members.sorted { $0.key < $1.key }.flatMap { name, value in spellings(of: name, value) ?? [(name, value)] }
  }

  private static func spellings(of name: String, _ value: PreferenceValue) -> [(key: String, value: PreferenceValue)]? {
    guard case .dictionary(let marked) = value, marked.count == 1, case .array(let items)? = marked[mark],
      items.count >= 4, items.count.isMultiple(of: 2)
    else { return nil }
    var entries: [(key: String, value: PreferenceValue)] = []
    var spellings: Set<[UInt8]> = []
    for index in stride(from: 0, to: items.count, by: 2) {
      guard case .string(let spelling) = items[index], spelling == name,
        spellings.insert(Array(spelling.utf8)).inserted
      else { return nil }
      entries.append((spelling, items[index + 1]))
    }
    return entries
  }
}
