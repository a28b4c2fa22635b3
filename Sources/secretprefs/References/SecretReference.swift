internal import DurableFiles
internal import VaultCore

/// A key with its service and access group in one text, which a file may have: `secret://service/key`, with
/// `?group=name` for an access group other than the default one. The key may contain slashes
/// (`Docs/Decisions/0078`).
struct SecretReference {
  static let scheme = "secret://"

  /// `nil` for the default group.
  let group: String?
  let service: Vault.Name
  let key: String

  init(group: String?, service: Vault.Name, key: String) {
    self.group = group
    self.service = service
    self.key = key
  }

  /// The reference to a listed record.
  init(service: Vault.Name, key: String, in group: AccessGroup) {
    self.init(
      group: group.name.text == AccessGroup.defaultName ? nil : group.name.text, service: service, key: key)
  }

  /// Parses a reference.
  init(_ text: some Collection<UInt8>) throws(Fault) {
    guard text.starts(with: Self.scheme.utf8) else { throw .scheme }
    let bytes = text.dropFirst(Self.scheme.utf8.count)
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    guard !path[0].isEmpty else { throw .noService }
    guard path.count == 2, !path[1].isEmpty else {
      throw bytes.contains(UInt8(ascii: "#")) ? .fragment : .noKey
    }
    service = try Self.name(path[0], allowing: Self.segment)
    key = try Self.name(path[1], allowing: Self.segment + "/").text
    group = try parts.dropFirst().first.map { (query) throws(Fault) in
      guard query.starts(with: Self.parameter.utf8), !query.contains(UInt8(ascii: "&")) else {
        throw query.contains(UInt8(ascii: "#")) ? .fragment : .parameter
      }
      return try Self.name(query.dropFirst(Self.parameter.utf8.count), allowing: Self.segment).text
    }
  }

  /// The reference that an argument has in place of a key; `nil` if it is a key.
  init?(argument: String) throws(ToolError) {
    guard Self.isMeant(argument.utf8) else { return nil }
    do throws(Fault) { try self.init(argument.utf8) } catch { throw error.usage }
  }

  /// Whether a text is meant as a reference and not as a key or a value: it begins with the scheme, whose letters may
  /// be large and whose second slash may be missing.
  static func isMeant(_ text: some Sequence<UInt8>) -> Bool {
    text.starts(with: scheme.utf8.dropLast()) { $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1 }
  }

  /// The text that is parsed to this reference. A shell and a dotenv file need no quotes for it, except for the
  /// question mark of a group, which is a pattern in zsh.
  var text: String {
    let (service, key) = (
      PercentEncoding.encoded(service.text.utf8, keeping: Self.plain),
      PercentEncoding.encoded(key.utf8, keeping: Self.plain + "/")
    )
    return Self.scheme + service + "/" + key + (group.map(Self.query) ?? "")
  }

  /// The end of a reference that names an access group.
  static func query(_ group: String) -> String {
    "?" + parameter + PercentEncoding.encoded(group.utf8, keeping: plain)
  }

  var place: RecordPlace { get throws { try RecordPlace(of: self) } }

  private static let parameter = "group="
  /// The characters that stand for themselves in a segment of a path (RFC 3986, 3.3), besides letters and digits.
  private static let segment = "-._~!$&'()*+,;=:@"
  /// Those of them that no shell changes, without the equals sign: a key that has one looks like a key and its value.
  private static let plain = "-._+,:@"

  /// Decodes percent-encoding.
  private static func name(_ part: some Collection<UInt8>, allowing allowed: String) throws(Fault) -> Vault.Name {
    var bytes: [UInt8] = []
    var rest = Array(part)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case _ where PercentEncoding.isWord(byte) || allowed.utf8.contains(byte): bytes.append(byte)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(DecodedText.hexDigit),
          let low = rest.popFirst().flatMap(DecodedText.hexDigit)
        else { throw .encoding }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "#"): throw .fragment
      default: throw .character
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding }
    do throws(VaultError) { return try Vault.Name(text) } catch { throw .name }
  }
}
