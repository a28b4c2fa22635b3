import Foundation
import PreferencesSettings
import Preferences
import Testing

/// The value of a field, its load state and its times.
struct FieldTests {
  @Test func `item 93: a new field has no value, is not loaded and has no times`() {
    let field = Field<Int>("age")
    #expect(field.value == nil && field.loadState.isNotLoaded)
    #expect(field.updatedAt == nil && field.changedAt == nil)
    #expect(field.validation == .unknown && field.name == "age")
  }

  @Test func `item 93: an initial value is loaded and stamps no time`() {
    let field = Field<Int>("age", value: 10)
    #expect(field.value == 10 && field.loadState.isLoaded)
    #expect(field.updatedAt == nil && field.changedAt == nil)
  }

  @Test func `item 94: setting a different value stamps both times`() {
    let field = Field<Int>("age", now: SteppingClock().now)
    field.value = 10
    #expect(field.value == 10 && field.loadState.isLoaded)
    #expect(field.updatedAt == .look(1) && field.changedAt == .look(1))
  }

  @Test func `item 94: setting an equal value stamps only the update`() {
    let field = Field<Int>("age", now: SteppingClock().now)
    field.value = 10
    field.value = 10
    #expect(field.updatedAt == .look(2) && field.changedAt == .look(1))
  }

  @Test func `setting nil loads a new field without changing it`() {
    let field = Field<Int>("age")
    field.value = nil
    #expect(field.loadState.isLoaded && field.updatedAt != nil && field.changedAt == nil)
  }

  @Test func `item 94: setting an equal value resets the validation and notifies no observer`() {
    let field = Field<Int>("age", value: 10)
    let log = Log<Int?>()
    let observation = field.observe(log.append)
    field.validate()
    #expect(field.validation == .valid)
    field.value = 10
    #expect(field.validation == .unknown)
    #expect(log.entries == [10])
    observation.invalidate()
  }

  @Test func `NaN is not different from NaN`() {
    let field = Field<Double>("ratio", now: SteppingClock().now)
    field.value = .nan
    field.value = .nan
    #expect(field.updatedAt == .look(2) && field.changedAt == .look(1))
  }

  @Test func `a field is described by its name, on one line and without its value`() {
    let field = Field<String>("pass\nphrase", value: "s3ntinel")
    #expect(!"\(field)".contains("\n"))
    var dumped = ""
    dump(field, to: &dumped)
    #expect(!"\(field)".contains("s3ntinel") && !dumped.contains("s3ntinel"))
  }
}
