public import Testing

/// A rule that every store must follow; ``all`` is the contract of a store.
///
/// The contract has what the author of a store can get wrong: what `value(for:)`, `names(of:)`, both forms of
/// `apply(_:)`, `observe(_:)` and `custody` do, also in composites and views. What this package does with any such
/// store, such as operators, property wrappers, buffers, transformations, migrations and syncs, is not in it. For a
/// store in memory or over a file, all checks together take a second or two.
///
/// A check records failures as issues of the running test. A rule can require something of a store, for example that it
/// can be written or that it holds secrets; it does not apply to other stores.
public struct ConformanceRule: Sendable, CustomTestStringConvertible {
  /// The number of the row in `Docs/Parity.md`.
  package let item: Int
  /// The rule, as a sentence.
  public let title: String
  private let requirements: [StoreRequirement]
  private let body: @Sendable (StoreFixture) async throws -> Void

  /// A rule for stores.
  init(
    _ item: Int, _ title: String, requires more: [StoreRequirement] = [],
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
  ) {
    self.init(reading: item, title, requires: [.writable] + more, body)
  }

  /// A rule for stores and for readers that cannot be written; `body` gets readers from the fixture.
  init(
    reading item: Int, _ title: String, requires requirements: [StoreRequirement] = [],
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
  ) {
    self.item = item
    self.title = title
    self.requirements = requirements
    self.body = body
  }

  public var testDescription: String { title }

  /// The secret that the rules store. They never store it in anything that is not sealed.
  static let sentinel = "SENTINEL-5f3a"

  /// Whether the rule applies to a store. For example, a rule for secrets does not apply to a store that holds none.
  ///
  /// May make a store to find out. If that fails, the rule applies, and its check reports the error.
  public func applies(to store: StoreUnderTest) -> Bool { requirements.allSatisfy { $0.isMet(by: store) } }

  /// Checks the rule on a store. Each issue names the rule and the store. An error that stops the check is also
  /// recorded as an issue, and so is a file in the fixture's folder in which a secret of the rule can be read.
  ///
  /// If the rule does not apply to `store`, the method prints why, cancels the current test or its current case, and
  /// returns. The console of Swift 6.3 counts a cancelled case as passed, and Swift 6.2 cannot cancel one. A test that
  /// checks several rules, or whose output should count only what was checked, first calls ``applies(to:)``.
  public func check(_ store: StoreUnderTest) async {
    if let requirement = requirements.first(where: { !$0.isMet(by: store) }) {
      let reason = "\(title): not applicable, because \(store.name) is not a store that \(requirement.text)"
      print("➜ \(reason)")  // the console shows no cancelled case
      #if compiler(>=6.3)
        // The error that it throws only ends the test earlier.
        do { try Test.cancel(Comment(rawValue: reason)) } catch {}
      #endif
      return
    }
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

  /// Every rule of the contract.
  public static let all: [ConformanceRule] = [
    reading, values, writing, sharing, composition, routing, secrecy, sealing, views, names, typedKeys, serialization,
    observation, callbacks,
  ].flatMap(\.self).sorted { $0.item < $1.item }
}

extension Issue {
  /// Runs `body` and adds `comment` to each issue that `body` records. An error from `body` is recorded as an issue.
  static func commenting(
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
