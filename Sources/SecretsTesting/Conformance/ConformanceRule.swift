public import Testing

/// A rule that every store must follow; ``all`` is the complete suite.
///
/// A check records failures as issues of the running test.
public struct ConformanceRule: Sendable, CustomTestStringConvertible {
  /// The number of the row in `Docs/Parity.md`.
  package let item: Int
  /// The rule, as a sentence.
  public let title: String
  /// Whether the rule also applies to readers that cannot be written.
  public let isForReaders: Bool
  private let body: @Sendable (StoreFixture) async throws -> Void

  /// A rule for stores.
  init(_ item: Int, _ title: String, _ body: @escaping @Sendable (StoreFixture) async throws -> Void) {
    (self.item, self.title, self.body, isForReaders) = (item, title, body, false)
  }

  /// A rule for stores and for readers that cannot be written; `body` gets readers from the fixture.
  init(reading item: Int, _ title: String, _ body: @escaping @Sendable (StoreFixture) async throws -> Void) {
    (self.item, self.title, self.body, isForReaders) = (item, title, body, true)
  }

  public var testDescription: String { title }

  /// The secret that the rules store. They never store it in anything that is not sealed.
  static let sentinel = "SENTINEL-5f3a"

  /// Checks the rule on a store. Each issue names the rule and the store. An error that stops the check is also
  /// recorded as an issue, and so is a file in the fixture's folder in which a secret of the rule can be read.
  ///
  /// Returns at once if the rule is not for readers and `store` cannot be written.
  public func check(_ store: StoreUnderTest) async {
    guard isForReaders || !store.isReadOnly else { return }
    let comment = Comment(rawValue: "\(title), broken by: \(store.name)")
    await Issue.commenting(comment) {
      let fixture = try StoreFixture(store)
      try await body(fixture)
      // A sealed store keeps no secret in the clear, whatever the rule has done with it.
      let found = try traces(of: Self.sentinel, inFilesAt: fixture.folder)
      #expect(found == [], "a secret can be read in a file")
      withExtendedLifetime(fixture) {}
    }
  }

  /// Every rule.
  public static let all: [ConformanceRule] = [
    reading, values, writing, sharing, composition, routing, secrecy, sealing, views, access, typedKeys,
    migrations, serialization, transformations, handles, wrappers, observation, callbacks, syncing, registry,
  ].flatMap(\.self).sorted { $0.item < $1.item }

  /// Returns the rules of an item. An item with several promises has several rules.
  package static func of(item: Int) -> [ConformanceRule] { all.filter { $0.item == item } }
}

extension Issue {
  /// Runs `body` and adds `comment` to each issue that `body` records. An error from `body` is recorded as an issue.
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
    // The trait rethrows errors of the body, and this body throws none.
    do { try await naming.provideScope(for: test, testCase: Test.Case.current, performing: recording) } catch {}
  }
}
