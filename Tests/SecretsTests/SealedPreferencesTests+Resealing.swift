import Secrets
import SecretsTesting
import Testing

/// Values that are sealed again with a new sealing key.
extension SealedPreferencesTests {
  @Test func `item 122: values are sealed again with a new sealing key, and then need only that one`() throws {
    let base = DictionaryPreferences()
    let sealer = try Self.sealer()
    let settings = try base.sealed(by: sealer, as: "settings")
    try settings.set(Self.values)
    let before = try base.dictionary()
    try sealer.renewSealingKey()
    #expect(try settings.dictionary(revealingSecrets: true) == Self.values)

    try settings.resealAll()
    try sealer.forgetPreviousSealingKeys()

    #expect(try settings.dictionary(revealingSecrets: true) == Self.values)
    for (name, text) in before {
      #expect(try base.value(forKey: name) != text)
      try base.set(text, forKey: name)
      #expect(Self.refusal { try settings.value(forKey: name) } == .tampered)
    }
  }

  @Test func `item 122: values are sealed again asynchronously`() async throws {
    let base = DictionaryPreferences()
    let sealer = try Self.sealer()
    let settings = try base.sealed(by: sealer, as: "settings")
    try await settings.set("s3cret", forKey: "password")
    try await sealer.renewSealingKey()

    try await settings.resealAll()
    try await sealer.forgetPreviousSealingKeys()

    #expect(try settings.string(forKey: "password") == "s3cret")
  }

  @Test(arguments: ["", "part."])
  func `item 122: values that others have added to a file are sealed again, also in a part of it`(part: String) throws {
    let folder = try TemporaryFolder()
    let sealer = try Self.sealer()
    func view() throws -> SealedPreferences<PreferencesView<JSONPreferences>> {
      let file = try JSONPreferences(at: folder.path + "/settings.json", options: .creating)
      return try file.below(part).sealed(by: sealer, as: "settings")
    }
    let (settings, other) = (try view(), try view())
    try other.set("s3cret", forKey: "password")
    try sealer.renewSealingKey()
    #expect(try settings.keys() == [])

    try settings.resealAll()
    try sealer.forgetPreviousSealingKeys()

    #expect(try settings.string(forKey: "password") == "s3cret")
  }

  @Test func `values that need no previous sealing key are not sealed again`() throws {
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set(Self.values)
    let before = try base.dictionary()

    try settings.resealAll()

    #expect(try base.dictionary() == before)
  }

  @Test func `a value in a layer that cannot be written is not sealed again, which is an error`() throws {
    let lower = DictionaryPreferences()
    let sealer = try Self.sealer()
    try lower.sealed(by: sealer, as: "settings").set("s3cret", forKey: "password")
    let upper = DictionaryPreferences(try lower.dictionary()).readOnly
    let composite: CompositePreferences = [upper, lower]
    try sealer.renewSealingKey()

    let error = #expect(throws: PreferencesError.self) {
      try composite.sealed(by: sealer, as: "settings").resealAll()
    }
    #expect(error?.code == .noStore)
  }

  @Test func `item 122: a value that does not open is not sealed again, and nothing else is`() throws {
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set("s3cret", forKey: "password")
    try base.set("plain", forKey: "user")
    let before = try base.dictionary()

    #expect(Self.refusal { try settings.resealAll() } == .malformed)
    #expect(try base.dictionary() == before)
  }
}

/// A store that another writer changes just before a write: as often as `remaining` says, `reseal` runs first.
final class ResealingPreferences: PreferencesStore, @unchecked Sendable {
  // Unchecked: one test uses it, on one thread.
  let name = "resealing"
  private let values = DictionaryPreferences()
  var remaining = 0
  var reseal: () throws -> Void = {}

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { values.value(for: query) }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { values.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    if remaining > 0 {
      remaining -= 1
      try reseal()
    }
    return try values.apply(edits)
  }
}
