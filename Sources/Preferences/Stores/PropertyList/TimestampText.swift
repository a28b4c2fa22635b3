import FoundationEssentials

extension Timestamp {
  /// The date as `YYYY-MM-DDThh:mm:ssZ`; `nil` unless it is a whole second of the years 1 to 9999.
  static func text(_ date: Date) -> String? {
    guard let seconds = Int(exactly: date.timeIntervalSinceReferenceDate),
      (-63_113_904_000..<252_423_993_600).contains(seconds)
    else { return nil }
    // Counts from 1 March of year 0, so that the leap day is the last of its year, in eras of 400 years.
    let day = 730_791 + (seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
    let second = seconds + (730_791 - day) * 86_400
    let (era, dayOfEra) = day.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let isNextYear = month >= 10
    let year = era * 400 + yearOfEra + (isNextYear ? 1 : 0)
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let date = [padded(year, 4), padded(isNextYear ? month - 9 : month + 3, 2), padded(dayOfMonth, 2)]
    let time = [padded(second / 3_600, 2), padded(second / 60 % 60, 2), padded(second % 60, 2)]
    return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: width - digits.count) + digits
  }
}
