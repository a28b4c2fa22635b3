import PreferencesSettings
import Testing

/// Rules by themselves.
struct RuleTests {
  @Test func `a rule of a regular expression holds for the whole value`() {
    let rule = Rule<String>.matching(/[a-z]+(-[a-z]+)*/)
    #expect(rule.isMet(by: "a-b"))
    #expect(!rule.isMet(by: "a-"))
    #expect(rule.isMet(by: nil))
  }
}
