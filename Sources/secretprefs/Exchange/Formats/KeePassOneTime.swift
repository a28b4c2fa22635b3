/// The one-time codes that KeePass and its plugins keep in several fields of an entry. They become one value that
/// "secretprefs otp" reads.
///
/// KeePass 2.47 has `TimeOtp-Secret-Base32` (also `-Hex`, `-Base64`, or none of them for text) with `-Algorithm`,
/// `-Length` and `-Period`, and `HmacOtp-…` with `-Counter`. KeeTrayTOTP has `TOTP Seed`, and `TOTP Settings` such as
/// `30;6`, or `30;S` for Steam.
struct KeePassOneTime {
  private static let secretForms = ["-Base32", "-Hex", "-Base64", ""]

  private let bytes: UnsafeMutableRawBufferPointer
  /// The fields that the codes become.
  private(set) var values: [PlainRecords.Field] = []
  /// What of them is not imported.
  private(set) var left: [String] = []

  /// Takes the fields that belong to codes out of `fields`. Those that have no such meaning stay.
  init(taking fields: inout [(name: String, bytes: Range<Int>)], in bytes: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
    takeSeed(from: &fields)
    for type in ["TimeOtp", "HmacOtp"] { takeKeePass(type, from: &fields) }
  }

  private mutating func takeSeed(from fields: inout [(name: String, bytes: Range<Int>)]) {
    guard let seed = fields.first(where: { $0.name == "TOTP Seed" }) else { return }
    let settings = fields.first { $0.name == "TOTP Settings" }
    let parts = settings.map { text($0.bytes).split(separator: ";", omittingEmptySubsequences: false) } ?? ["30", "6"]
    guard parts.count >= 2, Int(parts[0]) != nil, parts[1] == "S" || Int(parts[1]) != nil else { return }
    let digits = parts[1] == "S" ? "&digits=5&encoder=steam" : "&digits=\(parts[1])"
    values.append(
      PlainRecords.Field(
        "totp", seed.bytes,
        spelling: .between("otpauth://totp/?secret=", "&period=\(parts[0])\(digits)"), isSecret: true))
    if parts.dropFirst(2).contains(where: { !$0.isEmpty }) {
      left.append("the time server and all else behind the digits in TOTP Settings")
    }
    fields.removeAll { ["TOTP Seed", "TOTP Settings"].contains($0.name) }
  }

  private mutating func takeKeePass(_ type: String, from fields: inout [(name: String, bytes: Range<Int>)]) {
    var secret: (form: String, bytes: Range<Int>)?
    for form in Self.secretForms {
      guard secret == nil, let field = fields.first(where: { $0.name == "\(type)-Secret\(form)" }) else { continue }
      secret = (form, field.bytes)
    }
    guard let secret else { return }
    func setting(_ name: String) -> String? { fields.first { $0.name == "\(type)-\(name)" }.map { text($0.bytes) } }
    var parameters = ""
    if let length = setting("Length") { parameters += "&digits=\(length)" }
    if let period = setting("Period") { parameters += "&period=\(period)" }
    if let algorithm = setting("Algorithm") {
      guard let name = Self.algorithm(algorithm) else { return }
      parameters += "&algorithm=\(name)"
    }
    if type == "HmacOtp" { parameters += "&counter=\(setting("Counter") ?? "0")" }
    guard parameters.utf8.allSatisfy({ $0 < 0x80 && $0 > 0x20 && $0 != 0x23 }) else { return }
    let start = "otpauth://\(type == "TimeOtp" ? "totp" : "hotp")/?secret="
    let spelling: PlainSpelling
    var range = secret.bytes
    switch secret.form {
    case "-Base32": spelling = .between(start, parameters)
    case "-Hex":
      guard let decoded = DecodedText.hex(range, in: bytes) else { return }
      range = decoded
      spelling = .base32(start, parameters)
    case "-Base64":
      guard let decoded = DecodedText.base64(range, in: bytes) else { return }
      range = decoded
      spelling = .base32(start, parameters)
    default: spelling = .base32(start, parameters)
    }
    values.append(
      PlainRecords.Field(type == "TimeOtp" ? "totp" : "hotp", range, spelling: spelling, isSecret: true))
    let used = ["Secret\(secret.form)", "Length", "Period", "Algorithm"] + (type == "HmacOtp" ? ["Counter"] : [])
    fields.removeAll { field in used.contains { field.name == "\(type)-\($0)" } }
  }

  private static func algorithm(_ name: String) -> String? {
    switch name.uppercased() {
    case "HMAC-SHA-1": "SHA1"
    case "HMAC-SHA-256": "SHA256"
    case "HMAC-SHA-512": "SHA512"
    default: nil
    }
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range.prefix(InputText.longestName)], as: UTF8.self)
  }
}
