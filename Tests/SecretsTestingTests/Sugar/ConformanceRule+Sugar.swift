@testable import SecretsTesting

extension ConformanceRule {
  /// The rules that are not of a store's contract: what this package does with any store.
  static let sugar: [ConformanceRule] = [
    access, nameRefusals, declaredKeys, conversions, watching, writes, redaction, transformations, handles, wrappers,
    migrations, syncing, registry,
  ].flatMap(\.self).sorted { $0.item < $1.item }

  /// The rules of the contract and of the package.
  static let everyRule = (all + sugar).sorted { $0.item < $1.item }

  /// Returns the rules of an item. An item with several promises has several rules.
  static func of(item: Int) -> [ConformanceRule] { everyRule.filter { $0.item == item } }
}
