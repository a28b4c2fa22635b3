import Preferences

@testable import secretprefs

/// A settings file, in JSON or as a property list. The first byte of an input chooses, and the second a change.
struct SettingsTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    guard input.count >= 2 else { return }
    let text = Array(input.dropFirst(2))
    switch input[0] % 3 {
    case 0: try check(text, JSONFormat(), change: input[1])
    case 1: try check(text, PropertyListFormat(), change: input[1])
    default: try checkDotenv(text)
    }
  }

  private func check(_ text: [UInt8], _ format: some PreferenceFileFormat, change: UInt8) throws {
    let values: [String: PreferenceValue]
    do throws(PreferencesError) { values = try format.values(from: text) } catch {
      return try demandNoSecret("\(error)", "a settings file")
    }
    guard let same = try written(values, over: text, format) else { return }
    let isBinary = text.starts(with: "bplist".utf8)
    if !isBinary { try demand(same == text, "a file without a change is changed") }
    // A setting is changed, added or removed; the others stay.
    var changed = values
    let names = values.keys.sorted()
    let name = names.isEmpty || change < 64 ? "New" : names[Int(change) % names.count]
    changed[name] = change >= 192 ? nil : .integer(Int64(change))
    guard let new = try written(changed, over: text, format) else { return }
    let read = try format.values(from: new)
    try demand(read[name] == changed[name], "a setting is not changed")
    for other in names where other != name {
      try demand(read[other]?.isIdentical(to: values[other]!) == true, "a different setting is changed")
    }
    try demand(Set(read.keys) == Set(changed.keys), "the names of settings")
  }

  /// `nil` if the values cannot be stored, which says no value.
  private func written(
    _ values: [String: PreferenceValue], over text: [UInt8], _ format: some PreferenceFileFormat
  ) throws -> [UInt8]? {
    do throws(PreferencesError) { return try format.bytes(of: values, replacing: text) } catch {
      try demandNoSecret("\(error)", "a change")
      return nil
    }
  }

  private func checkDotenv(_ text: [UInt8]) throws {
    let format = DotenvFormat()
    guard let values = try? format.values(from: text) else { return }
    try demand(try format.bytes(of: values, replacing: text) == text, "a dotenv file without a change is changed")
    var changed = values
    for name in values.keys { changed[name] = .string("a b") }
    let read = try format.values(from: try format.bytes(of: changed, replacing: text))
    try demand(read == changed, "a dotenv file is not changed")
  }
}
