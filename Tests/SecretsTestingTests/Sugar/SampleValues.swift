import Preferences

/// A type that cannot be encoded.
struct Unencodable: Codable {
  struct Refused: Error {}
  init() {}
  init(from decoder: any Decoder) throws { throw Refused() }
  func encode(to encoder: any Encoder) throws { throw Refused() }
}

/// A custom collection.
struct Playlist: PreferenceCollection, Hashable {
  var songs: [String]
  init(_ elements: [String]) { songs = elements }
  var startIndex: Int { songs.startIndex }
  var endIndex: Int { songs.endIndex }
  subscript(position: Int) -> String { songs[position] }
  func index(after i: Int) -> Int { i + 1 }
}

/// A set algebra that is not a sequence.
struct Bag: PreferenceSetAlgebra, Hashable {
  private var set: Set<Int>
  init() { set = [] }
  init(_ set: Set<Int>) { self.set = set }
  var preferenceElements: [Int] { Array(set) }
  func contains(_ member: Int) -> Bool { set.contains(member) }
  func union(_ other: Bag) -> Bag { Bag(set.union(other.set)) }
  func intersection(_ other: Bag) -> Bag { Bag(set.intersection(other.set)) }
  func symmetricDifference(_ other: Bag) -> Bag { Bag(set.symmetricDifference(other.set)) }
  mutating func insert(_ new: Int) -> (inserted: Bool, memberAfterInsert: Int) { set.insert(new) }
  mutating func remove(_ member: Int) -> Int? { set.remove(member) }
  mutating func update(with new: Int) -> Int? { set.update(with: new) }
  mutating func formUnion(_ other: Bag) { set.formUnion(other.set) }
  mutating func formIntersection(_ other: Bag) { set.formIntersection(other.set) }
  mutating func formSymmetricDifference(_ other: Bag) { set.formSymmetricDifference(other.set) }
}
