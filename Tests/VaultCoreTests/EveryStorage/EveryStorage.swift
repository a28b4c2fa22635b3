import Testing

/// The behaviour of a vault, whatever keeps its bytes: each test runs in files and in memory, or in a database if
/// `Scripts/postgres` has started a server. The few that are about files say why.
@Suite(.everyStorage) enum EveryStorage {}

/// Runs each test once in each kind of storage, which is where ``TemporaryDirectory`` then keeps vaults.
struct EveryStorageTrait: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let isOfFiles = test.traits.contains { $0 is FilesOnlyTrait }
    for kind in isOfFiles ? [.file] : StorageKind.tested {
      let naming = IssueHandlingTrait.compactMapIssues { issue in
        var issue = issue
        issue.comments.append("with the vault in: \(kind)")
        return issue
      }
      try await naming.provideScope(for: test, testCase: testCase) {
        try await StorageKind.$ofTest.withValue(kind) { try await function() }
      }
    }
  }
}

/// A test of ``EveryStorage`` that is about files.
struct FilesOnlyTrait: TestTrait {
  let comments: [Comment]
}

extension Trait where Self == EveryStorageTrait {
  static var everyStorage: Self { Self() }
}

extension Trait where Self == FilesOnlyTrait {
  /// - Parameter reason: what only a file has.
  static func filesOnly(_ reason: Comment) -> Self { Self(comments: [reason]) }
}
