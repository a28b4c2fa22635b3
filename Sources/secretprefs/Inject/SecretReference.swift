internal import VaultCore

/// `secret://service/key`, with `?group=name` for an access group other than the default one. The key may contain
/// slashes.
struct SecretReference {
  static let scheme = "secret://"

  /// `nil` for the default group.
  let group: String?
  let service: Vault.Name
  let key: String

  /// Parses what follows the scheme.
  init(_ bytes: some Collection<UInt8>) throws(ToolError) {
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    guard path.count == 2 else { throw Self.malformed }
    do throws(VaultError) {
      service = try Vault.Name(try Self.decoded(path[0]))
      key = try Vault.Name(try Self.decoded(path[1], allowing: "/")).text
      group = try parts.dropFirst().first.map { (query) throws(VaultError) in
        guard query.starts(with: Self.groupQuery.utf8), !query.contains(UInt8(ascii: "&")) else { throw Self.refusal }
        return try Vault.Name(try Self.decoded(query.dropFirst(Self.groupQuery.utf8.count))).text
      }
    } catch { throw Self.malformed }
  }

  private static let groupQuery = "group="
  private static let refusal = VaultError(.malformed, "malformed reference")

  static let malformed = ToolError(
    refusal,
    hint:
      "a reference is {{ secret://service/key }}, or {{ secret://service/key?group=name }}; write %20 for a space, "
      + "and %2F for a slash in the name of a service")

  /// Decodes percent-encoding.
  ///
  /// - Parameter allowed: characters besides those of a segment of a path (RFC 3986, 3.3).
  /// - Throws: for other characters, and for bytes that are not UTF-8.
  private static func decoded(
    _ part: some Collection<UInt8>, allowing allowed: String = ""
  ) throws(VaultError) -> String {
    var bytes: [UInt8] = []
    var rest = Array(part)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39:
        bytes.append(byte)
      case _ where ("-._~!$&'()*+,;=:@" + allowed).utf8.contains(byte): bytes.append(byte)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(DecodedText.hexDigit),
          let low = rest.popFirst().flatMap(DecodedText.hexDigit)
        else { throw refusal }
        bytes.append(high << 4 | low)
      default: throw refusal
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw refusal }
    return text
  }
}
