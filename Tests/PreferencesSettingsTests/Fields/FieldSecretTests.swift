import PreferencesSettings
import Preferences
import Secrets
import SecretsTesting
import Testing
import VaultCore

/// Fields of secrets.
@Suite(.throwawayVault) struct FieldSecretTests {
  private let key = PreferenceKey<Secret<String>?>("token")
}

extension FieldSecretTests {
  @Test func `a secret is bound to a vault in both directions`() async throws {
    let vault = try ThrowawayVault.current.preferences()
    try await vault.set("s3ntinel", forKey: "token")
    let field = Field(key)
    let binding = try field.bind(to: vault)
    #expect(try field.value?.withValue { $0 } == "s3ntinel")
    field.value = try Secret("s3cond")
    try await field.save()
    #expect(try vault.string(forKey: "token") == "s3cond")
    binding.invalidate()
  }

  @Test func `a secret is stored in no plain store`() async throws {
    let (store, field) = (DictionaryPreferences(), Field(key))
    let binding = try field.bind(to: store)
    await PreferenceFailures.withHandler({ _ in }) {
      field.value = try? Secret("s3ntinel")
      await #expect(throws: PreferencesError.self) { try await field.save() }
    }
    #expect(try store.dictionary().isEmpty)
    binding.invalidate()
  }

  @Test func `a secret is in no description, dump or export of its field`() throws {
    let field = Field(key, value: try Secret("s3ntinel"))
    let list = Field(each: field, value: [try Secret("s3ntinel")])
    for value in [field, list] as [any AnyField] {
      #expect(traces(of: "s3ntinel", in: value).isEmpty)
      #expect(try [value].exportValues(explicitNull: true).isEmpty)
    }
  }

  @Test func `a secret is imported`() throws {
    let field = Field(key)
    try [field].importValues(from: ["token": "s3ntinel"])
    #expect(try field.value?.withValue { $0 } == "s3ntinel")
  }
}
