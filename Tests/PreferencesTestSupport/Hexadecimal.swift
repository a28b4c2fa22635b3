import Preferences

/// Text in a store, a number in the program.
package struct Hexadecimal: PreferenceTransformation {
  package struct NotHexadecimal: Error, CustomStringConvertible {
    package var description: String { sentinel }
  }
  package struct Negative: Error {}

  package init() {}

  package func value(from stored: String) throws -> Int {
    guard let number = Int(stored, radix: 16) else { throw NotHexadecimal() }
    return number
  }

  package func stored(from value: Int) throws -> String {
    guard value >= 0 else { throw Negative() }
    return String(value, radix: 16)
  }
}
