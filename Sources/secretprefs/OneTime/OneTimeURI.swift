internal import VaultCore
internal import VaultSealing

/// The parameters of one-time codes in a value, which is not copied: an `otpauth` URI, `steam://` and a secret as in
/// Bitwarden, or `key=…&step=…` as in older versions of KeePassXC.
struct OneTimeURI {
  typealias Part = Slice<UnsafeRawBufferPointer>

  /// What the text is, by its beginning.
  private enum Form: String, CaseIterable {
    case uri = "otpauth://"
    case steam = "steam://"
    case keePassXC = "key="
    /// Several accounts in one text, from Google Authenticator.
    case migration = "otpauth-migration://"
  }

  /// What KeePassXC called the parameters.
  private static let olderNames = ["secret": "key", "period": "step", "digits": "size", "algorithm": "otpHashMode"]

  /// totp or hotp. `nil` for the forms that have no other type than totp, such as the type steam of Aegis.
  let type: Part?
  /// Whether the codes are those of Steam.
  private(set) var isOfSteam = false
  private let form: Form
  private let parameters: [Part]
  private let steamSecret: Part?

  /// `nil` if no line of `value` begins as one of the forms.
  ///
  /// - Throws: ``ToolError`` for several accounts in one text.
  init?(in value: UnsafeRawBufferPointer) throws(ToolError) {
    var found: (form: Form, rest: Part)?
    for line in value.split(separator: 0x0A) where found == nil {
      let line = trimmed(line)
      guard let form = Form.allCases.first(where: { matches(line.prefix($0.rawValue.utf8.count), $0.rawValue) }) else {
        continue
      }
      found = (form, form == .keePassXC ? line : line.dropFirst(form.rawValue.utf8.count))
    }
    guard let found else { return nil }
    form = found.form
    switch found.form {
    case .migration:
      throw ToolError(
        VaultError(
          .typeMismatch, "the value has the accounts of Google Authenticator, of which each needs its own key"),
        hint: "\"secretprefs import - --format otpauth\" stores each account")
    case .steam:
      type = nil
      parameters = []
      steamSecret = found.rest
      isOfSteam = true
    case .keePassXC:
      type = nil
      parameters = found.rest.split(separator: UInt8(ascii: "&"))
      steamSecret = nil
    case .uri:
      let uri = found.rest.prefix { $0 != UInt8(ascii: "#") }
      let word = uri.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      let isSteam = matches(word, "steam")
      type = isSteam ? nil : word
      parameters = uri.drop { $0 != UInt8(ascii: "?") }.dropFirst().split(separator: UInt8(ascii: "&"))
      steamSecret = nil
      isOfSteam = isSteam
      if !isSteam { isOfSteam = try isIssuedBySteam(uri.drop { $0 != UInt8(ascii: "/") }.dropFirst()) }
    }
  }

  /// Whether Steam itself made the URI. It names neither the encoder nor the number of digits.
  private func isIssuedBySteam(_ rest: Part) throws(ToolError) -> Bool {
    if let encoder = try parameter("encoder") { return matches(encoder, "steam") }
    guard try number("digits", in: 1...10) ?? 5 == 5 else { return false }
    if let issuer = try parameter("issuer") { return matches(issuer, "Steam") }
    return matches(rest.prefix(6), "Steam:") || matches(rest.prefix(8), "Steam%3A")
  }

  /// The value of a parameter; `nil` if it is missing or empty.
  func parameter(_ name: String) throws(ToolError) -> Part? {
    if form == .steam { return name == "secret" ? steamSecret : nil }
    let name = form == .keePassXC ? Self.olderNames[name] ?? name : name
    let found = parameters.filter { matches($0.prefix { $0 != UInt8(ascii: "=") }, name) }
    guard found.count <= 1 else { throw .oneTime("a parameter of the otpauth URI occurs twice") }
    guard let value = found.first?.drop(while: { $0 != UInt8(ascii: "=") }).dropFirst(), !value.isEmpty else {
      return nil
    }
    return value
  }

  /// The value of a parameter that is a number in `range`; `nil` if it is missing.
  func number(_ name: String, in range: ClosedRange<UInt64>) throws(ToolError) -> UInt64? {
    guard let text = try parameter(name) else { return nil }
    var number: UInt64? = 0
    for byte in text {
      let digit = byte &- UInt8(ascii: "0")
      let (product, isLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = product.addingReportingOverflow(UInt64(digit))
      number = number == nil || digit > 9 || isLarge || isLarger ? nil : sum
    }
    guard let number, range.contains(number) else {
      throw .oneTime(
        "the parameter \(name) of the otpauth URI is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

/// Removes spaces, tabs and carriage returns at both ends, and line feeds.
func trimmed(_ text: OneTimeURI.Part) -> OneTimeURI.Part {
  func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
  let start = text.drop(while: isSpace)
  return start[..<(start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex)]
}

/// Whether `text` is `word`, in any case of its ASCII letters.
func matches(_ text: some Sequence<UInt8>, _ word: String) -> Bool {
  func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
  return text.lazy.map(lowercase).elementsEqual(word.utf8.lazy.map(lowercase))
}

extension ToolError {
  /// A value that no one-time code can be made of.
  static func oneTime(_ message: String) -> ToolError {
    ToolError(
      VaultError(.typeMismatch, message),
      hint: "store the text of the QR code, which begins with otpauth://, or the secret in base32")
  }
}
