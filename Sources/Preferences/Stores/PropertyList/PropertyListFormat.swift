/// The two property list formats, parsed into tagged values.
///
/// `PropertyListDecoder` cannot serve here. It decodes `<real>1.0</real>` as an `Int64` and
/// `<integer>1</integer>` as a `Double`, so nothing that goes through `Decodable` can tell the two apart,
/// and the process dies on an array that contains itself or is nested a hundred thousand deep (seen with
/// Swift 6.3.1 on Linux).
enum PropertyListFormat {
  /// Arrays and dictionaries inside each other; keeps recursion away from the end of any thread's stack.
  static let maximumDepth = 128
  /// What all values may cost together. A binary file can refer to one object many times, and a few hundred
  /// bytes then unfold into terabytes. An XML file within the bound on files never costs as much as this.
  static let maximumCost = 64 << 20

  /// - Throws: `malformed`, `limitExceeded`.
  static func dictionary(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    let value: PreferenceValue
    if bytes.starts(with: "bplist".utf8) {
      var parser = try BinaryPropertyListParser(bytes)
      value = try parser.parse()
    } else {
      var parser = try XMLPropertyListParser(bytes)
      value = try parser.parse()
    }
    guard case .dictionary(let dictionary) = value else {
      throw PreferencesError(.malformed, "the top level is not a dictionary")
    }
    return dictionary
  }

  /// How much may still be unfolded.
  struct Budget {
    private var remaining = maximumCost

    /// Pays for one value with `byteCount` bytes of its own, at `depth`.
    mutating func spend(_ byteCount: Int, depth: Int) throws(PreferencesError) {
      guard depth <= maximumDepth else {
        throw PreferencesError(.limitExceeded, "nested deeper than \(maximumDepth) levels")
      }
      // A value in memory takes 24 bytes or less, whatever it is.
      remaining -= 24 + byteCount
      guard remaining >= 0 else {
        throw PreferencesError(.limitExceeded, "the values take more than \(maximumCost) bytes")
      }
    }
  }
}
