public import Testing
internal import VaultCore

/// Gives each test its own ``ThrowawayVault``, available as ``ThrowawayVault/current``.
///
/// ```swift
/// @Test(.throwawayVault) func `a token comes back`() throws {
///   let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
/// ```
public struct ThrowawayVaultTrait: TestTrait, SuiteTrait, TestScoping {
  /// Every test of a suite gets its own vault.
  public var isRecursive: Bool { true }

  let withPassphrase: Bool

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // The scope of a suite makes no vault; each case of a parameterised test gets its own vault.
    guard testCase != nil else { return try await function() }
    try await ThrowawayVault.$scoped.withValue(try ThrowawayVault(withPassphrase: withPassphrase)) {
      try await function()
    }
  }
}

extension Trait where Self == ThrowawayVaultTrait {
  /// A throwaway vault for each test.
  public static var throwawayVault: Self { ThrowawayVaultTrait(withPassphrase: false) }

  /// A throwaway vault for each test, which ``ThrowawayVault/passphrase`` also opens.
  public static var throwawayVaultWithPassphrase: Self { ThrowawayVaultTrait(withPassphrase: true) }
}

extension ThrowawayVault {
  @TaskLocal static var scoped: ThrowawayVault?

  /// The running test's vault.
  ///
  /// Stops the test with an explanation if the test has no ``ThrowawayVaultTrait``, which is a mistake in the test.
  public static var current: ThrowawayVault {
    guard let scoped else { preconditionFailure("add .throwawayVault to the traits of this test") }
    return scoped
  }
}
