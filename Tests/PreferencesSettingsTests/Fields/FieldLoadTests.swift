import PreferencesSettings
import Preferences
import Testing

/// A field that is loaded.
struct FieldLoadTests {
  private struct Refused: Error {}
  private let field = Field<Int>("age", now: SteppingClock().now)

  @Test func `item 103: a field is loading until it is loaded`() async throws {
    try await field.load {
      #expect(field.loadState.isLoading)
      return 10
    }
    #expect(field.value == 10 && field.loadState.isLoaded && field.changedAt != nil)
  }

  @Test func `a field that is known to have no value is loaded`() async throws {
    try await field.load { nil }
    #expect(field.value == nil && field.loadState.isLoaded && field.updatedAt != nil && field.changedAt == nil)
  }

  @Test func `item 103: a failed load keeps the value, throws, and ends with a later set`() async {
    field.value = 10
    await #expect(throws: Refused.self) { try await field.load { throw Refused() } }
    #expect(field.value == 10 && field.loadState.error is Refused)
    field.value = 10
    #expect(field.loadState.isLoaded)
  }

  @Test func `a set during a load wins over its result`() async throws {
    try await field.load {
      field.value = 1
      return 2
    }
    #expect(field.value == 1 && field.loadState.isLoaded)
  }

  @Test func `a set during a load wins over its error`() async {
    await #expect(throws: Refused.self) {
      try await field.load {
        field.value = 1
        throw Refused()
      }
    }
    #expect(field.value == 1 && field.loadState.isLoaded)
  }

  @Test func `a load supersedes an earlier one`() async throws {
    try await field.load {
      try await field.load { 2 }
      return 1
    }
    #expect(field.value == 2 && field.loadState.isLoaded)
  }

  @Test func `a value from a linked field wins over a load`() async throws {
    let other = Field<Int>("other")
    other --> field
    try await field.load {
      other.value = 1
      return 2
    }
    #expect(field.value == 1)
  }
}
