public import FoundationEssentials
public import Preferences

extension PreferenceKey {
  /// Creates a key whose value is stored as text in a format, such as a date as `2026-01-31`.
  ///
  /// ```swift
  /// let birthDate = PreferenceKey<Date?>("birth_date", format: .iso8601.year().month().day())
  /// ```
  ///
  /// Text that does not parse throws ``PreferencesError/Code/typeMismatch``.
  public init<Format: ParseableFormatStyle & Sendable>(_ name: String, format: Format)
  where Value == Format.FormatInput?, Format.FormatOutput == String, Format.Strategy: Sendable {
    self.init(name, format: format, parse: format.parseStrategy)
  }

  /// Creates a key whose value is stored as text that `format` writes and `parse` reads; otherwise as
  /// ``init(_:format:)``.
  public init<Format: FormatStyle & Sendable, Strategy: ParseStrategy & Sendable>(
    _ name: String, format: Format, parse: Strategy
  )
  where
    Value == Format.FormatInput?, Format.FormatOutput == String, Strategy.ParseInput == String,
    Strategy.ParseOutput == Format.FormatInput
  {
    self.init(
      name, kind: .string, makeDefault: { nil },
      decode: { stored throws(PreferencesError) in
        let text = try String(preferenceValue: stored)
        // The error of the strategy contains the text.
        do { return try parse.parse(text) } catch {
          throw PreferencesError(.typeMismatch, "the text does not have the format")
        }
      },
      encode: { value throws(PreferencesError) in value.map { .string(format.format($0)) } })
  }
}
