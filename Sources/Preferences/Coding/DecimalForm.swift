import FoundationEssentials

extension Decimal {
  /// What coding stores: an integer, or the double whose shortest text is this decimal, or text if neither is exact.
  /// `nil` for a decimal that is not read from its text, such as NaN: `Decimal` encodes it itself.
  var storedForm: PreferenceValue? {
    let text = "\(self)"
    guard Decimal(string: text) == self else { return nil }
    if let integer = PreferenceValue(parsing: text, as: .integer) { return integer }
    if let double = Double(text), Decimal(string: "\(double)") == self { return .double(double) }
    return .string(text)
  }

  /// The decimal that a finite number in text is.
  init?(numberIn text: String) {
    guard case .double(let double)? = PreferenceValue(parsing: text, as: .double), double.isFinite else { return nil }
    self.init(string: text)
  }

  /// The decimal that is stored as this text, because no number holds it exactly.
  init?(storedText text: String) {
    self.init(numberIn: text)
    guard storedForm == .string(text) else { return nil }
  }
}
