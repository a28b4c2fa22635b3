import Foundation
import PreferencesSettings
import Preferences
import Synchronization
import Testing

/// What a test shows in place of a screen.
private final class Screen: Sendable {
  private let shown = Mutex<[String]>([])

  var lines: [String] { shown.withLock { $0 } }
  func show(_ line: String) { shown.withLock { $0.append(line) } }
}

/// The code of ComingFromMagneticFields, word for word: Scripts/documents guide compares them.
struct FieldGuideTests {
  @Test func `a class has fields`() {
    final class Person {
      let age = Field<Int>("age")
    }
    let person = Person()
    person.age.value = 10
    #expect(person.age.value == 10)
  }

  @Test func `rules are conditions, all of which must hold`() {
    let positive = Field<Int>("age", rules: [Rule { $0 > 0 }])
    let even = Field<Int>("age", rules: [Rule { $0 > 0 }, Rule("must be even") { $0 % 2 == 0 }])
    let required = Field<Int>("age", rules: [Rule(allowsNil: false) { $0 > 0 }])
    #expect(positive.isValid && even.isValid && !required.isValid)
    (positive.value, even.value, required.value) = (0, 3, 3)
    #expect(positive.validate() == .invalid(["is invalid"]))
    #expect(even.validate() == .invalid(["must be even"]))
    #expect(required.isValid)
  }

  @Test func `a field knows when it was set, and when it changed`() {
    let clock = Date(timeIntervalSince1970: 0)
    let age = Field<Int>("age", now: { clock })
    age.value = 10
    #expect(age.updatedAt == clock && age.changedAt == clock)
  }

  @Test func `an object observes a field`() {
    final class Label: FieldObserver {
      let screen = Screen()
      func valueChanged(_ value: String?, of field: Field<String>) { screen.show(value ?? "–") }
    }
    let (name, label) = (Field<String>("name"), Label())
    name --> label
    name.value = "Ann"
    #expect(label.screen.lines == ["–", "Ann"])
  }

  @Test func `an object owns a closure`() {
    let screen = Screen()
    final class Form: FieldOwner {}
    let (name, form) = (Field<String>("name"), Form())
    name --> form { value in screen.show(value ?? "–") }
    name.value = "Ann"
    #expect(screen.lines == ["–", "Ann"])
  }

  @Test func `a field is linked to another one, in one direction or in both`() {
    let (source, destination) = (Field<Int>("source", value: 1), Field<Int>("destination"))
    source --> destination
    #expect(destination.value == 1)
    let (left, right) = (Field<Int>("left", value: 1), Field<Int>("right", value: 2))
    left <--> right  // both are 2
    #expect(left.value == 2 && right.value == 2)
  }

  @Test func `a closure observes without an owner`() {
    let screen = Screen()
    let age = Field<Int>("age")
    age --> { value in
      screen.show("Age was changed to \(value ?? 0)")
    }
    age.value = 10
    #expect(screen.lines.last == "Age was changed to 10")
  }

  @Test func `fields and closures are a chain`() {
    let screen = Screen()
    final class Purchase {
      let dollars = Field<Int>("dollars")
      let cents = Field<Int>("cents")
    }
    let purchase = Purchase()
    purchase.dollars --> { $0 * 100 } --> purchase.cents --> { screen.show("I spent \($0 ?? 0) cents") }
    purchase.dollars.value = 3
    #expect(purchase.cents.value == 300 && screen.lines.last == "I spent 300 cents")
  }

  @Test func `observers are removed`() {
    let (field, observer) = (Field<Int>("field", value: 1), Field<Int>("observer"))
    field --> observer
    field -/-> observer
    field.removeAllObservers()
    field.value = 2
    #expect(observer.value == 1)
  }

  @Test func `a loader drives the load state`() async throws {
    @Sendable func fetchAge() async throws -> Int? { 10 }
    let age = Field<Int>("age")
    try await age.load { try await fetchAge() }
    switch age.loadState {
    case .notLoaded, .loading: print("…")
    case .loaded: print(age.value ?? 0)
    case .failed(let error): print(type(of: error))
    }
    #expect(age.value == 10)
  }

  @Test func `a field of an array`() throws {
    let tags = *Field<String>("tags", rules: [.notBlank])
    tags.append("new")
    tags.removeFirst("old")
    try tags.remove(at: 0)
    #expect(tags.value == [])
  }

  @Test func `enumerations and dates, to and from dictionaries`() throws {
    enum Size: String, PreferenceConvertible { case small, large }
    let size = Field<Size>("size")
    let born = Field<Date>(
      "born", keys: ["api": PreferenceKey("birth_date", format: .iso8601.year().month().day())])
    let fields: [any AnyField] = [size, born]
    try fields.importValues(from: ["size": "large", "birth_date": "1990-05-17"], named: "api")
    let values = try fields.exportValues(named: "api")
    #expect(size.value == .large && values == ["size": "large", "birth_date": "1990-05-17"])
  }

  @Test func `a model in a model`() throws {
    final class Address: FieldModel {
      let city = Field<String>("city")
      var fields: [any AnyField] { [city] }
    }
    final class Person: FieldModel {
      let name = Field<String>("name")
      let address = Field(PreferenceKey("address", makeModel: Address.init))
      var fields: [any AnyField] { [name, address] }
    }
    let person = Person()
    try person.importValues(from: ["name": "Ann", "address": ["city": "Ulm"]])
    #expect(person.address.value?.city.value == "Ulm")
  }

  @Test func `a field and its preference are kept alike`() async throws {
    let settings = DictionaryPreferences()
    let name = Field<String>("name")
    let binding = try name.bind(to: settings)
    name.value = "Ann"
    try await name.save()
    #expect(try settings.string(forKey: "name") == "Ann")
    binding.invalidate()
  }
}
