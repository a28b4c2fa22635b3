import Foundation
import Preferences
import PreferencesSettings
import Testing

private enum Size: String, PreferenceConvertible { case small, large }

/// Fields from and to dictionaries.
struct FieldDictionaryTests {
  private let name = Field<String>("name", value: "Ann")
  private let age = Field<Int>("age", value: 10)
  private let size = Field<Size>("size")
  private let born = Field<Date>(
    "born", keys: ["api": PreferenceKey("birth_date", format: .iso8601.year().month().day())])
  private var fields: [any AnyField] { [name, age, size, born] }

  @Test func `item 104: what is there is imported, and a field whose key is absent keeps its value`() throws {
    try fields.importValues(from: ["age": 11, "size": "large", "born": .date(.look(1)), "other": 1])
    #expect(name.value == "Ann" && name.updatedAt == nil)
    #expect(age.value == 11 && size.value == .large && born.value == .look(1))
  }

  @Test func `item 104: bad values are reported together, their fields keep theirs, and the others are set`() {
    let error = #expect(throws: PreferencesError.self) {
      try fields.importValues(from: ["name": "Bob", "age": "s3ntinel", "size": "s3ntinel"])
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message.contains(#""age""#) == true && error?.message.contains(#""size""#) == true)
    #expect(error?.message.contains("s3ntinel") == false && error?.message.contains(#""name""#) == false)
    #expect(name.value == "Bob" && age.value == 10 && age.updatedAt == nil && size.loadState.isNotLoaded)
  }

  @Test func `item 104: null sets nil`() throws {
    try fields.importValues(from: ["name": nil, "size": nil])
    #expect(name.value == nil && size.value == nil && size.loadState.isLoaded)
    #expect(age.value == 10)
  }

  @Test func `fields without a value are left out`() throws {
    size.value = .small
    name.value = nil
    #expect(try fields.exportValues() == ["age": 10, "size": "small"])
  }

  @Test func `item 104: fields that are known to have no value are null on request`() throws {
    name.value = nil
    #expect(try fields.exportValues(explicitNull: true) == ["name": nil, "age": 10])
  }

  @Test func `item 104: null comes from JSON and is written as JSON`() throws {
    try fields.importValues(from: try JSONFormat.members(of: Array(#"{"name": null, "size": "large"}"#.utf8)))
    #expect(name.value == nil && name.loadState.isLoaded && size.value == .large && age.value == 10)
    let text = try JSONFormat.document(of: try fields.exportValues(explicitNull: true))
    #expect(text.filter { ![0x20, 0x0A].contains($0) } == Array(#"{"age":10,"name":null,"size":"large"}"#.utf8))
    try fields.importValues(from: try JSONFormat.members(of: text))
    #expect(name.value == nil && size.value == .large)
  }

  @Test func `what is exported is imported again`() throws {
    (size.value, born.value) = (.small, .look(86_400))
    let values = try fields.exportValues()
    (name.value, age.value, size.value, born.value) = (nil, nil, nil, nil)
    try fields.importValues(from: values)
    #expect(name.value == "Ann" && age.value == 10 && size.value == .small && born.value == .look(86_400))
  }

  @Test func `item 104: a key that is chosen by name brings its own name and format`() throws {
    try fields.importValues(from: ["birth_date": "1970-01-02", "age": 11], named: "api")
    #expect(born.value == .look(86_400) && age.value == 11)
    #expect(
      try fields.exportValues(named: "api") == ["name": "Ann", "age": 11, "birth_date": "1970-01-02"])
    #expect(try fields.exportValues()["born"] == .date(.look(86_400)))
  }

  @Test func `item 104: a date has the format of its key`() throws {
    let strategy = Date.ParseStrategy(
      format: "\(day: .twoDigits)/\(month: .twoDigits)/\(year: .padded(4))", locale: Locale(identifier: "en_US_POSIX"),
      timeZone: .gmt)
    let style = Date.VerbatimFormatStyle(
      format: "\(day: .twoDigits)/\(month: .twoDigits)/\(year: .padded(4))", locale: Locale(identifier: "en_US_POSIX"),
      timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
    let field = Field(PreferenceKey("day", format: style, parse: strategy))
    try [field].importValues(from: ["day": "02/01/1970"])
    #expect(field.value == .look(86_400))
    #expect(try [field].exportValues() == ["day": "02/01/1970"])
  }

  @Test func `a field imports what a store has`() throws {
    let store = DictionaryPreferences(["name": "Bob", "age": 12])
    try fields.importValues(from: try store.dictionary())
    #expect(name.value == "Bob" && age.value == 12)
  }
}
