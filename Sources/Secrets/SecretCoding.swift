internal import FoundationEssentials
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// Converts preference values to bodies of records and back (`Docs/Format.md` 3.9).
///
/// Arrays and dictionaries are JSON text, as in the files of `JSONPreferences` (annex E).
enum SecretCoding {
  static let mismatch = VaultError(.typeMismatch, "the stored value has a different type than the one requested")

  /// Decodes a body of `kind`. The form of the body was checked when it was opened.
  static func decode(_ kind: ValueKind, _ body: RawSpan) -> Result<PreferenceValue, VaultError> {
    body.withUnsafeBytes { decode(kind, $0) }
  }

  private static func decode(
    _ kind: ValueKind, _ body: UnsafeRawBufferPointer
  ) -> Result<PreferenceValue, VaultError> {
    func word() -> UInt64 { UInt64(littleEndian: body.loadUnaligned(as: UInt64.self)) }
    switch kind {
    case .string: return .success(.string(String(decoding: body, as: UTF8.self)))
    case .data: return .success(.data(Data(body)))
    case .bool: return .success(.bool(body[0] == 1))
    case .integer: return .success(.integer(Int64(bitPattern: word())))
    case .unsignedInteger: return .success(.unsignedInteger(word()))
    case .double: return .success(.double(Double(bitPattern: word())))
    case .date: return .success(.date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word()))))
    case .url:
      guard let url = URL(string: String(decoding: body, as: UTF8.self)) else { return .failure(mismatch) }
      return .success(.url(url))
    case .json:
      var text = Array(body)
      defer { text.withUnsafeMutableBytes { wipe($0) } }
      do throws(PreferencesError) { return .success(try JSONFormat.value(of: text)) } catch {
        return .failure(VaultError(.typeMismatch, "the stored JSON is not a list or dictionary of preference values"))
      }
    default:
      return .failure(VaultError(.typeMismatch, "the stored value is of a kind that this version does not know"))
    }
  }

  /// Lends the kind and body of `value` in place, because a copy would have to be wiped.
  static func withEncoded<R>(
    _ value: PreferenceValue, _ body: (ValueKind, RawSpan) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    func withWord(_ word: UInt64, _ kind: ValueKind) throws(VaultError) -> R {
      let word: InlineArray = [word.littleEndian]
      return try body(kind, word.span.bytes)
    }
    switch value {
    case .string(let text): return try body(.string, text.utf8Span.span.bytes)
    case .url(let url):
      let text = url.absoluteString
      return try body(.url, text.utf8Span.span.bytes)
    case .data(let data): return try body(.data, data.bytes)
    case .bool(let flag):
      let byte: InlineArray<1, UInt8> = [flag ? 1 : 0]
      return try body(.bool, byte.span.bytes)
    case .integer(let number): return try withWord(UInt64(bitPattern: number), .integer)
    case .unsignedInteger(let number): return try withWord(number, .unsignedInteger)
    case .double(let number): return try withWord(number.bitPattern, .double)
    case .date(let date): return try withWord(date.timeIntervalSinceReferenceDate.bitPattern, .date)
    case .array, .dictionary:
      var text: [UInt8]
      do throws(PreferencesError) { text = try JSONFormat.text(of: value) } catch {
        throw VaultError(
          .typeMismatch, "a list or dictionary that is nested too deeply, is too long, or has a date that is not finite"
        )
      }
      defer { text.withUnsafeMutableBytes { wipe($0) } }
      return try body(.json, text.span.bytes)
    }
  }
}

extension VaultError: DiscreetError {
  package var withoutValues: VaultError {
    VaultError(code, message, errno: errno, cause: (cause as? any DiscreetError)?.withoutValues)
  }
}
