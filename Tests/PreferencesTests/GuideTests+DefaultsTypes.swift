import FoundationEssentials
import Preferences
import Testing

struct Member: Hashable {
  let name: String
  let age: Int
}
extension Member: PreferenceConvertible {
  static var preferenceKind: PreferenceValue.Kind { .dictionary }

  init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let name = value["name"]?.as(String.self), let age = value["age"]?.as(Int.self) else {
      throw PreferencesError(.typeMismatch, "no member")
    }
    self.name = name
    self.age = age
  }

  var preferenceValue: PreferenceValue { ["name": .string(name), "age": PreferenceValue(age)] }
}

private let ann = Member(name: "Ann", age: 24)

extension PreferenceKey<[String: PreferenceValue]> {
  static let magic = Self("magic", default: [:])
}

extension PreferenceKey<[Member]> {
  static let members = Self("members", default: [ann])
}
extension PreferenceKey<Set<Member>> {
  static let guests = Self("guests", default: [ann])
}
extension PreferenceKey<[String: Member]> {
  static let roles = Self("roles", default: ["cook": ann])
}

enum MediaType: String, PreferenceConvertible {
  case json = "application/json"
  case stream = "application/octet-stream"
}

struct Shelf<Element: PreferenceConvertible>: Collection {
  var items: [Element]

  var startIndex: Int { items.startIndex }
  var endIndex: Int { items.endIndex }
  func index(after index: Int) -> Int { items.index(after: index) }
  subscript(position: Int) -> Element { items[position] }
}
extension Shelf: PreferenceConvertible, PreferenceCollection {
  init(_ elements: [Element]) { items = elements }
}

struct TagSet<Element: PreferenceConvertible & Hashable>: SetAlgebra {
  var store: Set<Element> = []

  func contains(_ member: Element) -> Bool { store.contains(member) }
  func union(_ other: Self) -> Self { Self(store: store.union(other.store)) }
  func intersection(_ other: Self) -> Self { Self(store: store.intersection(other.store)) }
  func symmetricDifference(_ other: Self) -> Self { Self(store: store.symmetricDifference(other.store)) }
  mutating func insert(_ new: Element) -> (inserted: Bool, memberAfterInsert: Element) { store.insert(new) }
  mutating func remove(_ member: Element) -> Element? { store.remove(member) }
  mutating func update(with new: Element) -> Element? { store.update(with: new) }
  mutating func formUnion(_ other: Self) { store.formUnion(other.store) }
  mutating func formIntersection(_ other: Self) { store.formIntersection(other.store) }
  mutating func formSymmetricDifference(_ other: Self) { store.formSymmetricDifference(other.store) }
}
extension TagSet: PreferenceConvertible, PreferenceSetAlgebra {
  var preferenceElements: [Element] { Array(store) }
}

// ComingFromPrephirencesAndDefaults.md: Defaults, types of one's own and what has changed since.
extension GuideTests {
  @Test func `Defaults: a type of one's own is a value, and so are collections of it`() throws {
    let member = PreferenceKey("member", default: Member(name: "Ann", age: 24))
    let name = settings[member].name
    let first = settings[.members][0].name
    let guest = settings[.guests].first?.name
    let cook = settings[.roles]["cook"]?.name

    #expect([name, first, guest, cook] == ["Ann", "Ann", "Ann", "Ann"])
    settings[.members] = [Member(name: "Bob", age: 30)]
    #expect(settings["members"] == [["name": "Bob", "age": 30]])
    settings["members"] = [["name": "Bob"]]
    #expect(preferencesError { _ = try settings.value(for: .members) }?.code == .typeMismatch)
  }

  @Test func `Defaults: a value may have any type`() {
    settings["any"] = 1
    settings["any"] = "🦄"
    settings["any"] = PreferenceValue(MediaType.json)
    let type = settings["any"]?.as(MediaType.self)
    settings["any"]?.set(MediaType.stream)

    #expect(type == .json && settings["any"] == "application/octet-stream")
  }

  @Test func `Defaults: a dictionary of any values is one value`() {
    settings[.magic]["unicorn"] = "🦄"
    settings[.magic]["number"] = 3
    settings[.magic]["boolean"] = true
    settings[.magic]["enum"] = PreferenceValue(MediaType.json)
    let unicorn = settings[.magic]["unicorn"]?.as(String.self)

    #expect(unicorn == "🦄")
    #expect(settings["magic"] == ["unicorn": "🦄", "number": 3, "boolean": true, "enum": "application/json"])
  }

  @Test func `Defaults: a collection of one's own is a value`() {
    let shelf = PreferenceKey("shelf", default: Shelf(["Hello", "World!"]))
    let hello = settings[shelf][0]

    settings[shelf] = Shelf(["a"])
    #expect(hello == "Hello" && settings["shelf"] == ["a"] && settings[shelf].items == ["a"])
  }

  @Test func `Defaults: a set of one's own is a value`() {
    let tags = PreferenceKey("tags", default: TagSet(store: ["Hello", "World!"]))
    let hasHello = settings[tags].contains("Hello")

    settings[tags] = TagSet(store: ["b", "a"])
    #expect(hasHello && settings["tags"] == ["a", "b"] && settings[tags].store == ["a", "b"])
  }

  @Test func `Defaults: what is stored is brought to a version`() throws {
    settings["accent"] = "#0000ff"
    settings["colour"] = "dark"

    try PreferenceMigrator([
      PreferenceMigration(to: 1, [.rename("colour", to: "scheme")]),
      PreferenceMigration(to: 2, [.convert("accent") { $0.as(String.self).map { .string(String($0.dropFirst())) } }]),
    ]).run(on: settings)

    #expect(settings[.scheme] == .dark && settings["accent"] == "0000ff")
  }

  @Test func `a migration in the guide renames, removes, converts and seals`() throws {
    let tokens = SealedPreferences()
    for (key, value) in ["port": "8080", "theme": "dark", "github": "t0ken"] { try settings.set(value, forKey: key) }

    try PreferenceMigrator([
      PreferenceMigration(to: 1, [.rename("port", to: "server.port"), .remove("theme")]),
      PreferenceMigration(
        to: 2, [.convert("server.port") { $0.as(String.self).flatMap(Int.init).map { PreferenceValue($0) } }]),
      PreferenceMigration(to: 3, [.seal("github", into: tokens)]),
    ]).run(on: settings)

    #expect(try settings.dictionary() == ["server.port": 8080, "preferences@version": 3])
    #expect(try tokens.dictionary(revealingSecrets: true) == ["github": "t0ken"])
  }
}
