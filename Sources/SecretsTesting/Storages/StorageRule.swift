public import Testing

/// A rule that every storage of vaults must follow; ``all`` is the complete suite.
///
/// A check records failures as issues of the running test. Some rules use the storage as a vault does, with bytes that
/// need not be a vault; the others keep a vault in it.
public struct StorageRule: Sendable, CustomTestStringConvertible {
  /// The rule, as a sentence.
  public let title: String
  private let body: @Sendable (StorageFixture) async throws -> Void

  init(_ title: String, _ body: @escaping @Sendable (StorageFixture) async throws -> Void) {
    self.title = title
    self.body = body
  }

  public var testDescription: String { title }

  /// Checks the rule on a storage. Each issue names the rule and the storage. An error that stops the check is also
  /// recorded as an issue.
  public func check(_ storage: StorageUnderTest) async {
    await Issue.commenting(Comment(rawValue: "\(title), broken by: \(storage.name)")) {
      let fixture = try StorageFixture(storage)
      try await body(fixture)
      withExtendedLifetime(fixture) {}
    }
  }

  /// Every rule.
  public static let all: [StorageRule] = [bytes, replacing, writers, vaults, lies].flatMap(\.self)
}
