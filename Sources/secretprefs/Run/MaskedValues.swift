internal import VaultCore

/// The values that `run --mask` hides: the text and data that the command gets from the vault.
final class MaskedValues {
  let patterns: ValuePatterns
  private var count = 0
  /// The keys whose values are not hidden.
  private var unmasked: [String] = []

  init() throws(VaultError) { patterns = try ValuePatterns(takesAllLines: true) }

  /// - Parameter label: What a warning calls the record.
  func add(_ value: UnsafeRawBufferPointer, of record: RecordInfo, called label: String) throws(VaultError) {
    guard record.isSecret else { return }
    if record.kind.isSearchable, try patterns.add(value, as: count) {
      count += 1
    } else {
      unmasked.append(label)
    }
  }

  /// Names the keys whose values are not hidden.
  var warning: String? {
    guard !unmasked.isEmpty else { return nil }
    return
      "not masked, because shorter than \(ValuePatterns.minimum) bytes, with fewer than \(ValueSearch.window) that "
      + "are compared, or neither text nor data: " + listed(unmasked.map(displayed))
  }
}
