public import FoundationEssentials

/// Reads and writes points in time as text: RFC 3339, strictly, in the Gregorian calendar.
///
/// Foundation's parser accepts trailing text, turns 31 February into 2 March and counts years before 1583 in the Julian
/// calendar, so a value could change while it is read.
public enum PreferenceTimestamp {
  /// Parses `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`; `nil` for anything else.
  ///
  /// - Parameter isOfAnyYear: whether years before 0 and after 9999 are accepted, as `-002` and `10000`.
  public static func date(_ text: String, ofAnyYear isOfAnyYear: Bool = false) -> Date? {
    var rest = Array(text.utf8)[...]
    guard let year = isOfAnyYear ? year(&rest) : number(4, &rest), skip("-", &rest),
      let month = number(2, &rest), skip("-", &rest),
      let day = number(2, &rest), skip("T", &rest), let hour = number(2, &rest), skip(":", &rest),
      let minute = number(2, &rest), skip(":", &rest), let second = number(2, &rest),
      let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty,
      (1...12).contains(month), (1...length(ofMonth: month, year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let past = year - 1
    let daysBefore = (1..<month).reduce(0) { $0 + length(ofMonth: $1, year) }
    let leapDays = floor(past, 4) - floor(past, 100) + floor(past, 400)
    let days = past * 365 + leapDays + daysBefore + day - 1
    let seconds = (days - daysBefore2001) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  /// Returns `YYYY-MM-DDThh:mm:ssZ`, or `YYYY-MM-DDThh:mm:ss.sssZ`, rounded to milliseconds.
  ///
  /// - Returns: `nil` outside the years 0 to 9999, and without milliseconds for a date that is not a whole second.
  public static func text(_ date: Date, withMilliseconds: Bool = false) -> String? {
    let interval = date.timeIntervalSinceReferenceDate
    guard interval.magnitude < 1e12, withMilliseconds || interval == interval.rounded() else { return nil }
    let time = Int((interval * 1000).rounded())
    let day = floor(time, 86_400_000)
    let millisecond = time - day * 86_400_000
    // Days are counted from 1 March of year 0, so that a leap day is the last day of its year, in eras of 400 years.
    let era = floor(day + 730_791, 146_097)
    let dayOfEra = day + 730_791 - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = era * 400 + yearOfEra + (month >= 10 ? 1 : 0)
    guard (0...9999).contains(year) else { return nil }
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    return padded(year, 4) + "-" + padded(month >= 10 ? month - 9 : month + 3, 2) + "-" + padded(dayOfMonth, 2) + "T"
      + padded(millisecond / 3_600_000, 2) + ":" + padded(millisecond / 60_000 % 60, 2) + ":"
      + padded(millisecond / 1000 % 60, 2) + (withMilliseconds ? "." + padded(millisecond % 1000, 3) : "") + "Z"
  }

  /// Returns the shortest text from which ``date(_:ofAnyYear:)`` returns the same date: with no, three, six or nine
  /// digits after the second. `nil` if there is none.
  package static func exactText(_ date: Date) -> String? {
    let second = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    guard let whole = text(second) else { return nil }
    if second == date { return whole }
    let fraction = date.timeIntervalSince(second)
    for (digits, parts) in [(3, 1e3), (6, 1e6), (9, 1e9)] {
      let count = Int((fraction * parts).rounded())
      guard count < Int(parts) else { continue }
      let text = whole.dropLast() + "." + padded(count, digits) + "Z"
      if self.date(String(text)) == date { return String(text) }
    }
    return nil
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: width - digits.count) + digits
  }

  /// Days from 1 January of year 1 to Foundation's reference date, 1 January 2001.
  private static let daysBefore2001 = 730_485

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func year(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    let digits = rest.prefix { (0x30...0x39).contains($0) }.count
    guard (3...10).contains(digits), let year = number(digits, &rest) else { return nil }
    return isNegative ? -year : year
  }

  private static func floor(_ dividend: Int, _ divisor: Int) -> Int {
    dividend >= 0 ? dividend / divisor : (dividend + 1) / divisor - 1
  }

  private static func number(_ digits: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
    var number = 0
    for _ in 0..<digits {
      guard let byte = rest.popFirst(), (0x30...0x39).contains(byte) else { return nil }
      number = number * 10 + Int(byte - 0x30)
    }
    return number
  }

  private static func skip(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    rest.popFirst() == UInt8(ascii: character)
  }

  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Double? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
    guard (1...9).contains(digits.count) else { return nil }
    rest = rest.dropFirst(1 + digits.count)
    return Double("0." + String(decoding: digits, as: UTF8.self))
  }

  /// Seconds east of Greenwich.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let sign = rest.popFirst()
    if sign == UInt8(ascii: "Z") { return 0 }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = number(2, &rest),
      skip(":", &rest), let minutes = number(2, &rest), hours < 24, minutes < 60
    else { return nil }
    let seconds = hours * 3_600 + minutes * 60
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }
}
