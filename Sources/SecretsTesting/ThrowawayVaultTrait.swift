public import Testing
public import VaultCore

/// Gives each test its own ``ThrowawayVault``, available as ``ThrowawayVault/current``.
///
/// On a suite, every test of the suite gets its own vault; each case of a parameterised test has its own, too. A trait
/// on a test replaces the trait of its suite.
///
/// ```swift
/// @Test(.throwawayVault) func `a token comes back`() throws {
///   let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
/// ```
public struct ThrowawayVaultTrait: TestTrait, SuiteTrait, TestScoping {
  /// Every test of a suite gets its own vault.
  public var isRecursive: Bool { true }

  let groups: [String]
  let withPassphrase: Bool

  /// Runs a test with a new vault as ``ThrowawayVault/current``.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // The scope of a suite makes no vault; each case of a parameterised test gets its own vault.
    guard testCase != nil else { return try await function() }
    let vault = try ThrowawayVault(groups: groups, withPassphrase: withPassphrase)
    // Tasks that outlive the test, such as those that wait for a process, inherit the reference.
    defer { vault.directory.remove() }
    try await ThrowawayVault.$scoped.withValue(vault) { try await function() }
  }
}

extension Trait where Self == ThrowawayVaultTrait {
  /// A throwaway vault for each test.
  public static var throwawayVault: Self { throwawayVault(groups: [AccessGroup.defaultName]) }

  /// A throwaway vault for each test, with these access groups.
  ///
  /// - Parameter withPassphrase: whether ``ThrowawayVault/passphrase`` also opens the vault; this costs about 10 ms.
  public static func throwawayVault(
    groups: [String] = [AccessGroup.defaultName], withPassphrase: Bool = false
  ) -> Self { ThrowawayVaultTrait(groups: groups, withPassphrase: withPassphrase) }
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
