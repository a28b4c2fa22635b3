import FoundationEssentials

/// Represents values that a format does not have as dictionaries of one member, whose name is a mark.
///
/// `$url` and `$data` mark a string (`$data` in Base64), `$unsigned` an integer, `$date` the seconds since 2001-01-01
/// UTC, `$double` the string `nan`, `inf` or `-inf`. A dictionary that looks like a mark gets an additional `$` before
/// its only name; other dictionaries are unchanged, so that `{"$schema": …}` has no special meaning. Nor has a mark of
/// other programs in a file, such as `{"$date": "2020-01-01"}`.
///
/// Unless all types are kept, a value that a lookup converts back from a form that other programs read is written in
/// that form, without a mark: a URL and a date as text, an unsigned integer as an integer.
struct ValueMarks: Sendable {
  fileprivate enum Mark: String {
    case data = "$data"
    case date = "$date"
    case url = "$url"
    case unsigned = "$unsigned"
    case double = "$double"
  }

  /// Whether each dictionary with the name of a mark must be one, as in a vault. Otherwise its member decides.
  let isStrict: Bool
  /// Whether each value is read back with its type, also without a key that names it.
  let keepsTypes: Bool
  /// Whether the format represents a scalar value directly.
  let isNative: @Sendable (PreferenceValue) -> Bool

  /// The value as the format represents it.
  ///
  /// - Throws: `unsupportedByFormat` for a date that is not finite.
  func marked(_ value: PreferenceValue) throws(PreferencesError) -> PreferenceValue {
    switch value {
    case .array(let items):
      return .array(try items.map { item throws(PreferencesError) in try marked(item) })
    case .dictionary(let members):
      let marked = try marked(members)
      guard let name = Self.onlyName(of: members), let member = marked[name], isMark(name, member) else {
        return .dictionary(marked)
      }
      return .dictionary(Dictionary(uniqueKeysWithValues: marked.map { ("$" + $0, $1) }))
    case .date(let date) where !date.timeIntervalSinceReferenceDate.isFinite:
      throw PreferencesError(.unsupportedByFormat, "a date that is not finite")
    case _ where isNative(value): return value
    default: return (keepsTypes ? nil : Self.plain(value)) ?? Self.marked(value)
    }
  }

  private static func marked(_ value: PreferenceValue) -> PreferenceValue {
    switch value {
    case .data(let data): .marked(.data, .string(data.base64EncodedString()))
    case .date(let date): .marked(.date, .double(date.timeIntervalSinceReferenceDate))
    case .url(let url): .marked(.url, .string(url.absoluteString))
    case .unsignedInteger(let number): Int64(exactly: number).map { .marked(.unsigned, .integer($0)) } ?? value
    case .double(let number): .marked(.double, .string("\(number.isNaN ? .nan : number)"))
    default: value
    }
  }

  /// The form of a date, a URL or an unsigned integer that other programs read; `nil` if a lookup would not convert it
  /// back to the same value.
  private static func plain(_ value: PreferenceValue) -> PreferenceValue? {
    switch value {
    case .unsignedInteger(let number): return Int64(exactly: number).map(PreferenceValue.integer)
    case .date(let date):
      guard let text = PreferenceTimestamp.exactText(date) else { return nil }
      return .string(text)
    case .url(let url):
      guard PreferenceValue(parsing: url.absoluteString, as: .url) == .url(url.absoluteURL) else { return nil }
      return .string(url.absoluteString)
    default: return nil
    }
  }

  /// Whether a dictionary of these members, in a file, is no mark and was not written for one.
  static func isPlain(_ members: [String: PreferenceValue]) -> Bool {
    onlyName(of: members)?.hasPrefix("$") != true
  }

  /// The reverse of ``marked(_:)-(PreferenceValue)``.
  ///
  /// - Throws: `malformed` if the member of a mark has the wrong form and this is strict.
  func unmarked(_ value: PreferenceValue) throws(PreferencesError) -> PreferenceValue {
    switch value {
    case .array(let items):
      return .array(try items.map { item throws(PreferencesError) in try unmarked(item) })
    case .dictionary(let members):
      guard let name = Self.onlyName(of: members), let member = members[name], isMark(name, member) else {
        return .dictionary(try unmarked(members))
      }
      guard let mark = Mark(rawValue: name) else {
        return .dictionary([String(name.dropFirst()): try unmarked(member)])
      }
      guard let value = Self.value(of: member, marked: mark) else {
        throw PreferencesError(.malformed, "not a value that \(name) can mark")
      }
      return value
    default: return value
    }
  }

  /// As ``marked(_:)-(PreferenceValue)``, for a whole file, whose top level is never a mark.
  func marked(_ members: [String: PreferenceValue]) throws(PreferencesError) -> [String: PreferenceValue] {
    var marked: [String: PreferenceValue] = [:]
    for (key, member) in members { marked[key] = try self.marked(member) }
    return marked
  }

  func unmarked(_ members: [String: PreferenceValue]) throws(PreferencesError) -> [String: PreferenceValue] {
    var unmarked: [String: PreferenceValue] = [:]
    for (key, member) in members { unmarked[key] = try self.unmarked(member) }
    return unmarked
  }

  private static func value(of member: PreferenceValue, marked mark: Mark) -> PreferenceValue? {
    switch (mark, member) {
    // One spelling: Foundation ignores the unused bits of the last digit.
    case (.data, .string(let text)):
      Data(base64Encoded: text).flatMap { $0.base64EncodedString() == text ? .data($0) : nil }
    case (.url, .string(let text)): PreferenceValue(parsing: text, as: .url)
    case (.unsigned, .integer(let number)): UInt64(exactly: number).map(PreferenceValue.unsignedInteger)
    case (.date, .double(let seconds)) where seconds.isFinite:
      .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.date, .integer(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case (.double, .double): member
    case (.double, .integer(let number)): .double(Double(number))
    case (.double, .string("-0")): .double(-0.0)
    case (.double, .string("nan")): .double(.nan)
    case (.double, .string("inf")): .double(.infinity)
    case (.double, .string("-inf")): .double(-.infinity)
    default: nil
    }
  }

  private static func onlyName(of members: [String: PreferenceValue]) -> String? {
    members.count == 1 ? members.first?.key : nil
  }

  /// Whether a dictionary with this member alone is a mark, or was written for one that looks like a mark.
  ///
  /// - Parameter member: as the format represents it.
  private func isMark(_ name: String, _ member: PreferenceValue) -> Bool {
    guard name.hasPrefix("$") else { return false }
    if let mark = Mark(rawValue: name) { return isStrict || Self.value(of: member, marked: mark) != nil }
    return Mark(rawValue: "$" + name.drop { $0 == "$" }) != nil
  }
}

extension PreferenceValue {
  fileprivate static func marked(_ mark: ValueMarks.Mark, _ value: PreferenceValue) -> PreferenceValue {
    .dictionary([mark.rawValue: value])
  }
}
