import FoundationEssentials
import PreferencesSettings
import Preferences
import Secrets
import Testing

private struct Camera: Equatable, Sendable { var model = "" }

/// Fields as a form shows and sets them, and fields that only a form has.
struct FieldTextTests {
  private let age = Field<Int>("age", value: 10, rules: [.range(0...150)])

  @Test func `item 104: a form is drawn and filled in without the types`() throws {
    let size = Field<FieldTextTests.Size>("size", value: .small)
    let born = Field(PreferenceKey<Date?>("born", format: .iso8601.year().month().day()), value: .look(86_400))
    let fields: [any AnyField] = [age, size, born, Field<Bool>("agreed"), Field<[String]>("tags", value: ["a"])]
    #expect(fields.map(\.control) == [.text, .text, .text, .toggle, .readOnly])
    #expect(fields.map(\.text) == ["10", "small", "1970-01-02", "", ""])
    for (field, text) in zip(fields, ["11", "large", "1990-05-17", "true"]) { try field.set(text: text) }
    #expect(fields.map(\.text) == ["11", "large", "1990-05-17", "true", ""])
    #expect(age.value == 11 && size.value == .large)
    try fields[0].set(text: "")
    #expect(age.value == nil && age.loadState.isLoaded)
  }

  enum Size: String, PreferenceConvertible { case small, large }

  @Test func `text that is no value throws without it, and changes nothing`() {
    let name = Field<String>("name", value: "Ann")
    let tags = Field<[String]>("tags", value: ["a"])
    let refused: [(any AnyField, String, PreferencesError.Code)] = [
      (age, "s3ntinel", .typeMismatch), (Field<Size>("size"), "s3ntinel", .outOfRange),
      (name, "s3ntinel\nb", .outOfRange), (name, "s3ntinel\u{2028}b", .outOfRange), (tags, "", .outOfRange),
      (tags, "s3ntinel", .typeMismatch),
    ]
    for (field, text, code) in refused {
      let error = #expect(throws: PreferencesError.self) { try field.set(text: text) }
      #expect(error?.code == code && error?.message.contains("s3ntinel") == false, "\(field.name)")
      #expect(field.updatedAt == nil)
    }
    #expect(age.value == 10 && name.value == "Ann" && tags.value == ["a"])
  }

  @Test func `a value that breaks a rule is set, and found by the validation`() throws {
    try age.set(text: "200")
    #expect(age.value == 200 && !age.isValid)
  }

  @Test func `a secret is set and never shown`() throws {
    let token = Field(PreferenceKey<Secret<String>?>("token"), value: try Secret("s3ntinel"))
    #expect(token.control == .secret && token.text.isEmpty)
    #expect(preferencesError { try token.set(text: "") }?.code == .outOfRange)
    try token.set(text: "s3cond")
    #expect(try token.value?.withValue { $0 } == "s3cond")
  }

  // MARK: Without a stored form

  @Test func `item 93: a field of any type needs no stored form and no name`() throws {
    let camera = Field<Camera>(value: Camera(model: "a"), rules: [Rule { !$0.model.isEmpty }])
    let copy = Field<Camera>()
    camera <--> copy
    copy.value = Camera(model: "b")
    #expect(camera.value == Camera(model: "b") && camera.isValid && camera.name.isEmpty)
    #expect(camera.control == .readOnly && camera.text.isEmpty)
    let list = *Field<Camera>()
    list.append(Camera())
    #expect(list.value == [Camera()])
  }

  @Test func `item 104: a field without a name is imported and exported with another key only`() throws {
    let number = Field<Int>(value: 1, keys: ["api": PreferenceKey("nr")])
    let fields: [any AnyField] = [Field<Camera>(value: Camera()), number, age]
    #expect(try fields.exportValues(explicitNull: true) == ["age": 10])
    #expect(try fields.exportValues(named: "api") == ["age": 10, "nr": 1])
    try fields.importValues(from: ["": "text", "nr": 2], named: "api")
    #expect(number.value == 2)
  }

  @Test func `a named field without a stored form is not left out silently`() async throws {
    let camera = Field<Camera>("camera", value: Camera(model: "s3ntinel"))
    let fields: [any AnyField] = [camera]
    #expect(preferencesError { _ = try fields.exportValues() }?.code == .notStorable)
    #expect(preferencesError { try fields.importValues(from: ["camera": "text"]) }?.code == .notStorable)
    #expect(camera.value == Camera(model: "s3ntinel"))
    let binding = try camera.bind(to: DictionaryPreferences())
    let error = await PreferenceFailures.withHandler({ _ in }) { () -> PreferencesError? in
      camera.value = Camera(model: "s3ntinel")
      return await #expect(throws: PreferencesError.self) { try await camera.save() }
    }
    #expect(error?.code == .notStorable && error?.message.contains("s3ntinel") == false)
    binding.invalidate()
  }

  @Test func `a field without a name is bound to no store`() {
    #expect(preferencesError { _ = try Field<Int>().bind(to: DictionaryPreferences()) }?.code == .invalidKey)
  }
}
