internal import FoundationEssentials
internal import Preferences

/// A point in time with milliseconds in the years 0 to 9999, which RFC 3339 can express in UTC.
struct Timestamp {
  /// Milliseconds since 1970-01-01 UTC.
  let milliseconds: Int64

  /// Seconds since 2001-01-01 UTC, rounded to milliseconds.
  init?(secondsSince2001 seconds: Double) {
    guard seconds.magnitude < 1e12 else { return nil }
    self.init(milliseconds: Int64((seconds * 1000).rounded()) + 978_307_200_000)
  }

  /// Milliseconds since 1970-01-01 UTC.
  init?(milliseconds: Int64) {
    guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return nil }
    self.milliseconds = milliseconds
  }

  /// Parses the form that ``text`` has, with or without milliseconds.
  init?(_ text: String) {
    guard let date = PreferenceTimestamp.date(text) else { return nil }
    self.init(secondsSince2001: date.timeIntervalSinceReferenceDate)
    // Refuses other offsets and other numbers of digits.
    guard self.text == (text.utf8.count == 20 ? text.dropLast() + ".000Z" : text) else { return nil }
  }

  /// RFC 3339 text, or the number of milliseconds if the year is out of range.
  static func text(of milliseconds: Int64) -> String {
    Timestamp(milliseconds: milliseconds)?.text ?? "\(milliseconds) ms"
  }

  var text: String {
    let date = Date(timeIntervalSinceReferenceDate: Double(milliseconds - 978_307_200_000) / 1000)
    return PreferenceTimestamp.text(date, withMilliseconds: true) ?? "\(milliseconds) ms"
  }
}
