import PreferencesSettings
import Testing

/// The rules of fields.
struct FieldValidationTests {
  private let even = Rule<Int>("must be even") { $0 % 2 == 0 }

  @Test func `item 95: all rules are checked, and the messages are in the order of the rules`() {
    let field = Field<Int>("age", value: -1, rules: [.range(0...9), even])
    #expect(field.validate() == .invalid(["must be between 0 and 9", "must be even"]))
    #expect(!field.isValid)
    field.value = 2
    #expect(field.isValid && field.validation == .valid)
  }

  @Test func `item 95: nil satisfies a rule unless the rule says otherwise`() {
    #expect(Field<Int>("age", rules: [even]).isValid)
    #expect(
      Field<Int>("age", rules: [Rule("is missing", allowsNil: false) { $0 > 0 }]).validate() == .invalid(["is missing"])
    )
    #expect(Field<Int>("age", rules: [.notNil]).validate() == .invalid(["must be set"]))
  }

  @Test func `item 95: a set resets what the validation found`() {
    let field = Field<Int>("age", value: 1, rules: [even])
    field.validate()
    field.value = 1
    #expect(field.validation == .unknown)
  }

  @Test func `item 95: validate checks again, and validateIfNeeded only after a set`() {
    let checks = Log<Int>()
    let rule = Rule<Int> { value in
      checks.append(value)
      return true
    }
    let field = Field<Int>("age", value: 1, rules: [rule])
    field.validateIfNeeded()
    field.validateIfNeeded()
    #expect(checks.entries == [1])
    field.validate()
    #expect(checks.entries == [1, 1])
    field.value = 2
    #expect(field.isValid && field.isValid)
    #expect(checks.entries == [1, 1, 2])
  }

  @Test func `item 95: an error added by hand survives validation, and ends with a set`() {
    let field = Field<Int>("age", value: 1, rules: [even])
    field.addError("is taken")
    #expect(field.validation == .invalid(["is taken"]))
    #expect(field.validate() == .invalid(["must be even", "is taken"]))
    #expect(field.validateIfNeeded() == .invalid(["must be even", "is taken"]))
    field.value = 2
    #expect(field.isValid)
  }

  @Test func `resetting forgets what the validation found and what was added`() {
    let field = Field<Int>("age", value: 1, rules: [even])
    field.validate()
    field.addError("is taken")
    field.resetValidation()
    #expect(field.validation == .unknown)
  }

  @Test(arguments: [
    (Rule<String>.length(2...3), "must have 2 to 3 characters"), (.length(2...), "must have at least 2 characters"),
    (.notBlank, "must not be blank"), (.mapped(by: { $0.count }, .range(2...)), "must be at least 2"),
    (.matching(/[a-z]{2}/), "has the wrong form"), (.oneOf(["a", "b"]), "must be one of the choices"),
    (Rule { _ in false }, "is invalid"),
  ])
  func `item 96: each rule has a message, and is shared by fields`(rule: Rule<String>, message: String) {
    let fields = [Field<String>("a", value: " ", rules: [rule]), Field<String>("b", value: "\t", rules: [rule])]
    for field in fields { #expect(field.validate() == .invalid([message])) }
  }

  @Test func `a value set while rules are checked is not taken for checked`() {
    let field = Field<Int>("age", value: 1, rules: [Rule { $0 < 10 }])
    let setting = Field<Int>("age", value: 1, rules: [Rule { [field] in (field.value = 99, $0 < 10).1 }])
    setting.validate()
    #expect(field.value == 99 && !field.isValid)
  }
}
