internal import VaultCore

/// `secret://group/service/key`, or `secret://service/key` for the default group.
struct SecretReference {
  static let scheme = "secret://"

  /// `nil` for the default group.
  let group: String?
  let service: Vault.Name
  let key: String

  /// Parses what follows the scheme.
  init(_ bytes: some Collection<UInt8>) throws(ToolError) {
    var parts: [String] = []
    for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let name = Self.decoded(part), !name.isEmpty else { throw Self.malformed }
      parts.append(name)
    }
    guard parts.count == 2 || parts.count == 3 else { throw Self.malformed }
    key = parts.removeLast()
    do throws(VaultError) {
      service = try Vault.Name(parts.removeLast())
      for name in parts + [key] { _ = try Vault.Name(name) }
    } catch { throw Self.malformed }
    group = parts.first
  }

  static let malformed = ToolError(
    VaultError(.malformed, "malformed reference"),
    hint:
      "a reference is {{ secret://service/key }} or {{ secret://group/service/key }}; write %20 for a space and %2F "
      + "for a slash in a name")

  /// Decodes percent-encoding. `nil` for characters that a part of a URI cannot have (RFC 3986), and for bytes that are
  /// not UTF-8.
  private static func decoded(_ part: some Collection<UInt8>) -> String? {
    var (bytes, rest) = ([UInt8](), Array(part)[...])
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39:
        bytes.append(byte)
      case _ where "-._~!$&'()*+,;=:@".utf8.contains(byte): bytes.append(byte)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(DecodedText.hexDigit),
          let low = rest.popFirst().flatMap(DecodedText.hexDigit)
        else { return nil }
        bytes.append(high << 4 | low)
      default: return nil
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
