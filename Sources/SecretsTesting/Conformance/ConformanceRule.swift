public import Testing

/// One promise that every store keeps; ``all`` are the suite.
///
/// A check records what it finds as issues of the running test. Its items are those of `Docs/Parity.md`.
public struct ConformanceRule: Sendable, CustomTestStringConvertible {
  /// The item's number in `Docs/Parity.md`.
  public let item: Int
  /// What is promised, as a sentence.
  public let title: String
  private let body: @Sendable (StoreFixture) async throws -> Void

  init(_ item: Int, _ title: String, _ body: @escaping @Sendable (StoreFixture) async throws -> Void) {
    (self.item, self.title, self.body) = (item, title, body)
  }

  public var testDescription: String { "item \(item): \(title)" }

  /// Tries the rule on a store.
  ///
  /// - Throws: what keeps the check from going on.
  public func check(_ store: StoreUnderTest) async throws {
    let fixture = try StoreFixture(store)
    try await body(fixture)
    withExtendedLifetime(fixture) {}
  }

  /// Every rule, in the order of the items.
  public static let all: [ConformanceRule] = [storing].flatMap(\.self).sorted { $0.item < $1.item }

  /// The rules of an item; several where it promises several things.
  public static func of(item: Int) -> [ConformanceRule] { all.filter { $0.item == item } }
}
