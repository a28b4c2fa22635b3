public import Testing

/// One promise that every store keeps; ``all`` are the suite.
///
/// A check records what it finds as issues of the running test. Its items are those of `Docs/Parity.md`.
public struct ConformanceRule: Sendable, CustomTestStringConvertible {
  /// The item's number in `Docs/Parity.md`.
  public let item: Int
  /// What is promised, as a sentence.
  public let title: String
  /// Whether it is promised of what can only be read, too.
  public let isForReaders: Bool
  private let body: @Sendable (StoreFixture) async throws -> Void

  /// A promise of stores.
  init(_ item: Int, _ title: String, _ body: @escaping @Sendable (StoreFixture) async throws -> Void) {
    (self.item, self.title, self.body, isForReaders) = (item, title, body, false)
  }

  /// A promise of stores and of what can only be read; `body` asks the fixture for readers.
  init(reading item: Int, _ title: String, _ body: @escaping @Sendable (StoreFixture) async throws -> Void) {
    (self.item, self.title, self.body, isForReaders) = (item, title, body, true)
  }

  public var testDescription: String { "item \(item): \(title)" }

  /// Tries the rule on a store. Each issue names both; what keeps the check from going on is one, too.
  ///
  /// Returns at once when the rule is not for readers and `store` is one.
  public func check(_ store: StoreUnderTest) async {
    guard isForReaders || !store.isReadOnly else { return }
    let comment = Comment(rawValue: "\(testDescription), broken by: \(store.name)")
    await Issue.commenting(comment) {
      let fixture = try StoreFixture(store)
      try await body(fixture)
      withExtendedLifetime(fixture) {}
    }
  }

  /// Every rule, in the order of the items.
  public static let all: [ConformanceRule] = [
    reading, values, writing, sharing, composition, routing, secrecy, sealing, views, access, typedKeys,
    migrations, serialization, transformations, handles, wrappers, observation, callbacks, syncing, registry,
  ].flatMap(\.self).sorted { $0.item < $1.item }

  /// The rules of an item; several where it promises several things.
  public static func of(item: Int) -> [ConformanceRule] { all.filter { $0.item == item } }
}

extension Issue {
  /// Runs `body` with `comment` added to each issue that it records; what it throws becomes one.
  fileprivate static func commenting(
    _ comment: Comment, _ body: @escaping @Sendable () async throws -> Void
  ) async {
    let recording: @Sendable () async -> Void = {
      do { try await body() } catch { record(error) }
    }
    guard let test = Test.current else { return await recording() }
    let naming: IssueHandlingTrait = .compactMapIssues { issue in
      var issue = issue
      issue.comments.append(comment)
      return issue
    }
    // The trait throws what the body throws, and this body does not.
    do { try await naming.provideScope(for: test, testCase: Test.Case.current, performing: recording) } catch {}
  }
}
