/// A point in time with milliseconds in the years 0 to 9999, which RFC 3339 can express in UTC.
struct Timestamp {
  /// Milliseconds since 1970-01-01 UTC.
  let milliseconds: Int64

  /// Seconds since 2001-01-01 UTC, rounded down to milliseconds.
  init?(secondsSince2001 seconds: Double) {
    guard seconds.magnitude < 1e12 else { return nil }
    self.init(milliseconds: Int64((seconds * 1000).rounded(.down)) + 978_307_200_000)
  }

  /// Milliseconds since 1970-01-01 UTC.
  init?(milliseconds: Int64) {
    guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return nil }
    self.milliseconds = milliseconds
  }

  /// Parses the form that ``text`` has, with or without milliseconds.
  init?(_ text: String) {
    let text = text.utf8.count == 20 && text.hasSuffix("Z") ? text.dropLast() + ".000Z" : text
    let numbers = text.split { "-T:.Z".contains($0) }.map { Int64($0) ?? -1 }
    // Only bounds for the arithmetic. The comparison below rejects dates that do not exist.
    guard numbers.count == 7, numbers.allSatisfy({ (0...9999).contains($0) }) else { return nil }
    let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
    let days = Self.days(year: numbers[0], month: numbers[1], day: numbers[2])
    self.init(milliseconds: (days * 86_400 + seconds) * 1000 + numbers[6])
    guard self.text == text else { return nil }
  }

  /// RFC 3339 text, or the number of milliseconds if the year is out of range.
  static func text(of milliseconds: Int64) -> String {
    Timestamp(milliseconds: milliseconds)?.text ?? "\(milliseconds) ms"
  }

  var text: String {
    let (days, rest) = Self.floored(milliseconds, by: 86_400_000)
    let (year, month, day) = Self.date(days)
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: width - digits.count) + digits
    }
    return
      "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
      + ".\(padded(rest % 1000, 3))Z"
  }

  /// The Gregorian date for days since 1970-01-01. Years start in March, in eras of 400 years, so that the leap day is
  /// the last day of a year and all eras have the same length.
  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (
      era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    )
  }

  /// The inverse of ``date(_:)``.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = floored(month <= 2 ? year - 1 : year, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func floored(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
