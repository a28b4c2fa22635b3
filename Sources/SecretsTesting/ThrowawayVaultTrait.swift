public import Testing
internal import VaultCore

/// Gives each test a ``ThrowawayVault`` of its own, as ``ThrowawayVault/current``.
///
/// ```swift
/// @Test(.throwawayVault) func `a token comes back`() throws {
///   let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
/// ```
public struct ThrowawayVaultTrait: TestTrait, SuiteTrait, TestScoping {
  /// Every test of a suite gets its own.
  public var isRecursive: Bool { true }

  let withPassphrase: Bool

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite's own scope makes none; each case of a parameterised test is a test of its own.
    guard testCase != nil else { return try await function() }
    try await ThrowawayVault.$scoped.withValue(try ThrowawayVault(withPassphrase: withPassphrase)) {
      try await function()
    }
  }
}

extension Trait where Self == ThrowawayVaultTrait {
  /// A throwaway vault for each test.
  public static var throwawayVault: Self { ThrowawayVaultTrait(withPassphrase: false) }

  /// A throwaway vault for each test, which ``ThrowawayVault/passphrase`` opens too.
  public static var throwawayVaultWithPassphrase: Self { ThrowawayVaultTrait(withPassphrase: true) }
}

extension ThrowawayVault {
  @TaskLocal static var scoped: ThrowawayVault?

  /// The running test's vault.
  ///
  /// Stops the test with an explanation when the test has no ``ThrowawayVaultTrait``: that is a mistake in the test.
  public static var current: ThrowawayVault {
    guard let scoped else { preconditionFailure("add .throwawayVault to the traits of this test") }
    return scoped
  }
}
