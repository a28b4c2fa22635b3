package import Foundation
package import Preferences

extension NSNumber: StorableObject {
  /// The number in its own kind: a boolean is no number here.
  package var storedValue: PreferenceValue {
    // An 8-bit integer has the type of a boolean, which is always one of the same two objects.
    if self === NSNumber(value: true) || self === NSNumber(value: false) { return .bool(boolValue) }
    // On Linux, the `doubleValue` of a decimal is not always the nearest double.
    if self is NSDecimalNumber { return .double(Double("\(decimalValue)") ?? doubleValue) }
    return switch String(cString: objCType) {
    case "d", "f": .double(doubleValue)
    case "Q", "L": .unsignedInteger(uint64Value)
    default: .integer(int64Value)
    }
  }
}
