/// The members of an object in a file by their names, which can be equal and have different bytes, such as with
/// composed and decomposed accents. Adding a member takes the same time for any number of others.
package struct NameSpellings<Member> {
  /// The first member of each name.
  package private(set) var first: [String: Member] = [:]
  /// All members of each name that has several, in order.
  package private(set) var equal: [String: [Member]] = [:]
  private var spellings: [String: Set<[UInt8]>] = [:]

  package init() {}

  /// Whether a member of an equal name was added.
  package func contains(_ name: String) -> Bool { first[name] != nil }

  /// Whether a member was added whose name has the same bytes.
  package func contains(spelling name: String) -> Bool {
    guard let known = first.index(forKey: name) else { return false }
    return spellings[name]?.contains(Array(name.utf8)) ?? name.utf8.elementsEqual(first[known].key.utf8)
  }

  /// Adds a member. Its name must not have been added with the same bytes.
  package mutating func add(_ member: Member, named name: String) {
    guard let known = first.index(forKey: name) else {
      first[name] = member
      return
    }
    let (spelling, value) = first[known]
    equal[spelling, default: [value]].append(member)
    spellings[spelling, default: [Array(spelling.utf8)]].insert(Array(name.utf8))
  }
}
