internal import FoundationEssentials
internal import Preferences

extension PreferenceValue? {
  /// Whether both values are equal to the last bit: -0 differs from 0, NaN equals NaN, and accents must be composed the
  /// same way. URLs are compared as absolute URLs.
  func isExactly(_ other: PreferenceValue?) -> Bool {
    switch (self, other) {
    case (let a?, let b?): a.isExactly(b)
    case (nil, nil): true
    default: false
    }
  }
}

extension PreferenceValue {
  fileprivate func isExactly(_ other: PreferenceValue) -> Bool {
    switch (self, other) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.url(let a), .url(let b)): a.absoluteString.utf8.elementsEqual(b.absoluteString.utf8)
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
    case (.date(let a), .date(let b)):
      a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
        || a.timeIntervalSinceReferenceDate.isNaN && b.timeIntervalSinceReferenceDate.isNaN
    case (.array(let a), .array(let b)): a.elementsEqual(b) { $0.isExactly($1) }
    case (.dictionary(let a), .dictionary(let b)):
      a.count == b.count && a.allSatisfy { key, value in b[key].isExactly(value) }
    default: self == other
    }
  }
}
