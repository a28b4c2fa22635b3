import SecretsTesting
import Synchronization
import Testing
import VaultCore

/// The rules of storages: each storage of this package keeps them, and each finds a fault.
struct StorageRuleTests {
  private static let file = StorageUnderTest(
    "file",
    reopening: { storage, _ in try .file(storage.name) },
    make: { try .file($0.folder + "/" + $0.uniqueName()) })
  private static let memory = StorageUnderTest("memory") { _ in .memory() }

  @Test(arguments: StorageRule.all, [file, memory, FaultyStorage.kind(nil)])
  func `a storage keeps every rule`(rule: StorageRule, storage: StorageUnderTest) async { await rule.check(storage) }

  @Test(arguments: FaultyStorage.Fault.allCases)
  func `a fault is found by the rule that forbids it`(fault: FaultyStorage.Fault) async throws {
    let rule = try #require(StorageRule.all.first(where: fault.isFound))
    let found = try await issues(of: rule, on: FaultyStorage.kind(fault))
    #expect(!found.isEmpty)
    #expect(found.allSatisfy { $0.comments.contains { $0.rawValue == "\(rule.title), broken by: \(fault)" } })
  }

  @Test(arguments: StorageRule.all)
  func `without a fault a rule finds nothing, also in a cancelled task`(rule: StorageRule) async throws {
    #expect(try await issues(of: rule, on: FaultyStorage.kind(nil)).isEmpty)
  }

  @Test(arguments: StorageRule.all)
  func `every rule has a fault that breaks it`(rule: StorageRule) {
    #expect(FaultyStorage.Fault.allCases.contains { $0.isFound(by: rule) })
  }

  /// What a rule finds, recorded nowhere else.
  private func issues(of rule: StorageRule, on storage: StorageUnderTest) async throws -> [Issue] {
    let found = Mutex<[Issue]>([])
    let collecting: IssueHandlingTrait = .compactMapIssues { issue in
      found.withLock { $0.append(issue) }
      return nil
    }
    let test = try #require(Test.current)
    // A cancelled task does not wait for a notification that never comes.
    let check = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await collecting.provideScope(for: test, testCase: Test.Case.current) { await rule.check(storage) }
    }
    try await check.value
    return found.withLock(\.self)
  }
}
