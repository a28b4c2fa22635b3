/// The time from which a value counts as expired, given as a point in time, a day, or a duration from now.
struct Expiry {
  /// Milliseconds since 1970-01-01 UTC.
  let milliseconds: Int64

  /// - Throws: A usage error for another text, and for a time after the year 9999.
  init(_ text: String, now: Int64) throws(ToolError) {
    if let time = Timestamp(text) ?? Timestamp(text + "T00:00:00Z") {
      milliseconds = time.milliseconds
    } else {
      milliseconds = try Self.time(text, after: now)
    }
  }

  private static func time(_ text: String, after now: Int64) throws(ToolError) -> Int64 {
    guard let duration = milliseconds(text) else {
      throw .usage(
        "an expiry must be a day or a time in UTC, or a whole number of \(units()) from now", hint: forms)
    }
    guard duration <= longest, let time = Timestamp(milliseconds: now + duration) else {
      throw .usage("an expiry must not be after the year 9999", hint: forms)
    }
    return time.milliseconds
  }

  private static let forms = "--expiry 2027-01-31, 2027-01-31T12:00:00Z, 1y, 2w, 90d, 12h, 30m or 45s"

  /// Parses the duration of an option, in milliseconds. It can be added to every time.
  ///
  /// - Throws: A usage error for another text, and for more than 9999 years.
  static func duration(_ text: String) throws(ToolError) -> Int64 {
    guard let duration = milliseconds(text) else {
      throw .usage(
        "a duration is a whole number of \(units())",
        hint: "write it as 1y, 2w, 14d, 12h, 30m or 45s")
    }
    guard duration <= longest else { throw .usage("a duration is at most 9999 years", hint: "9999y is the longest") }
    return duration
  }

  private static let day: Int64 = 86_400_000
  private static let longest = 9999 * 365 * day

  /// Parses a duration: digits and a unit. A year has 365 days.
  ///
  /// - Returns: `.max` for a duration with more milliseconds; `nil` for another text.
  static func milliseconds(_ text: String) -> Int64? {
    let digits = text.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let unit = unit(text.last) else {
      return nil
    }
    let (product, overflows) = (Int64(digits) ?? .max).multipliedReportingOverflow(by: unit)
    return overflows ? .max : product
  }

  private static func unit(_ letter: Character?) -> Int64? { all.first { $0.letter == letter }?.milliseconds }

  private static let all: [(letter: Character, name: String, milliseconds: Int64)] = [
    ("y", "years", 365 * day), ("w", "weeks", 7 * day), ("d", "days", day), ("h", "hours", 3_600_000),
    ("m", "minutes", 60_000), ("s", "seconds", 1000),
  ]

  /// The units of a duration in words, such as "minutes or seconds".
  ///
  /// - Parameter limit: The longest duration, in milliseconds. Longer units are left out.
  static func units(upTo limit: Int64 = .max) -> String {
    let names = all.filter { $0.milliseconds <= limit }.map { $0.name }
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }
}
