internal import VaultCore

/// The values that `run --mask` hides: the text and data that the command gets.
final class MaskedValues {
  let patterns: ValuePatterns
  private let records: [String: RecordInfo]
  private var count = 0
  /// The keys whose values are not hidden.
  private var unmasked: [String] = []

  init(_ records: [RecordInfo]) throws(VaultError) {
    self.records = Dictionary(records.map { ($0.key.text, $0) }) { first, _ in first }
    patterns = try ValuePatterns(takesAllLines: true)
  }

  func add(_ value: UnsafeRawBufferPointer, of key: String) throws(VaultError) {
    guard records[key]?.isSecret != false else { return }
    if records[key]?.kind.isSearchable == true, try patterns.add(value, as: count) {
      count += 1
    } else {
      unmasked.append(key)
    }
  }

  /// Names the keys whose values are not hidden.
  var warning: String? {
    guard !unmasked.isEmpty else { return nil }
    return "not masked, because shorter than \(ValuePatterns.minimum) bytes or neither text nor data: "
      + listed(unmasked.map(displayed))
  }
}
