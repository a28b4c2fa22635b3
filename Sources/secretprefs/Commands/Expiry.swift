/// The time from which a value counts as expired, given as a point in time, a day, or a duration from now.
struct Expiry {
  /// Milliseconds since 1970-01-01 UTC.
  let milliseconds: Int64

  init(_ text: String, now: Int64) throws(ToolError) {
    guard
      let time = Timestamp(text) ?? Timestamp(text + "T00:00:00Z")
        ?? Self.milliseconds(text).flatMap({ Timestamp(milliseconds: now + $0) })
    else {
      throw .usage(
        "an expiry must be a day or a time in UTC, or a whole number of years, weeks, days, hours, minutes or seconds "
          + "from now",
        hint: "--expiry 2027-01-31, 2027-01-31T12:00:00Z, 1y, 2w, 90d, 12h, 30m or 45s")
    }
    milliseconds = time.milliseconds
  }

  /// Parses the duration of an option, in milliseconds.
  static func duration(_ text: String) throws(ToolError) -> Int64 {
    guard let duration = milliseconds(text) else {
      throw .usage(
        "a duration is a whole number of years, weeks, days, hours, minutes or seconds",
        hint: "write it as 1y, 2w, 14d, 12h, 30m or 45s")
    }
    return duration
  }

  /// Parses a duration: one to nine digits and a unit. A year has 365 days.
  static func milliseconds(_ text: String) -> Int64? {
    let (digits, unit) = (text.dropLast(), text.last)
    guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    return switch unit {
    case "y": number * 365 * 86_400_000
    case "w": number * 7 * 86_400_000
    case "d": number * 86_400_000
    case "h": number * 3_600_000
    case "m": number * 60_000
    case "s": number * 1000
    default: nil
    }
  }
}
