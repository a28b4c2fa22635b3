internal import Preferences
internal import VaultCore
internal import VaultSealing

/// Tokens as they are stored: a JSON object in guarded memory.
///
///     {"access":"…","expires":1767225600000,"issued":1767222000000,"refresh":"…"}
///
/// Times are in milliseconds since 1970-01-01 UTC. In a store without attributes, `mark` is one more member: the bytes
/// of ``RefreshMark`` as hexadecimal digits. The text is written and read here, because Foundation's coders leave
/// copies of both tokens in ordinary memory.
struct TokenText: Sendable {
  let content: GuardedContent
  /// When the access token expires.
  let expires: Int64
  /// When the access token was obtained; `Int64.min` if another program wrote the record without this member.
  let issued: Int64
  private let accessRange: Range<Int>
  private let refreshRange: Range<Int>?
  private let markRange: Range<Int>?

  /// Takes any text as a token, because a server's tokens are stored before they are judged.
  init(
    access: Secret<String>, refresh: Secret<String>?, expires: Int64, issued: Int64
  ) throws(VaultError) {
    try self.init(try Self.content(.json, access, refresh, expires, issued, nil))
  }

  private static func content(
    _ kind: ValueKind, _ access: Secret<String>, _ refresh: Secret<String>?, _ expires: Int64, _ issued: Int64,
    _ mark: RefreshMark?
  ) throws(VaultError) -> GuardedContent {
    let length = Writer.length(of: access) + (refresh.map(Writer.length(of:)) ?? 0)
    var writer = Writer(bytes: try SecretBytes(count: 192 + length))
    writer.add("{\"access\":")
    writer.add(access)
    writer.add(",\"expires\":\(expires),\"issued\":\(issued)")
    if let mark { writer.add(",\"mark\":\"\(mark.text)\"") }
    if let refresh {
      writer.add(",\"refresh\":")
      writer.add(refresh)
    }
    writer.add("}")
    return try writer.content(kind)
  }

  /// - Throws: ``VaultError/Code/typeMismatch`` if this is not a JSON object of text and integers with `access` and
  ///   `expires`.
  init(_ content: GuardedContent, storedAs kind: ValueKind = .json) throws(VaultError) {
    guard content.kind == kind, let members = content.withBytes({ $1.withUnsafeBytes(Members.init) }),
      let access = members.texts["access"], let expires = members.integers["expires"]
    else { throw VaultError(.typeMismatch, "the record is not a pair of tokens") }
    self.content = content
    self.expires = expires
    issued = members.integers["issued"] ?? .min
    accessRange = access
    refreshRange = members.texts["refresh"].flatMap { $0.isEmpty ? nil : $0 }
    markRange = members.texts["mark"]
  }

  /// A text that also has `mark`, for a store without attributes.
  func with(_ mark: RefreshMark?) throws(VaultError) -> GuardedContent {
    try Self.content(.string, try access(), try refresh(), expires, issued, mark)
  }

  /// The tokens alone, which do not change when the mark does.
  func withoutMark() throws(VaultError) -> TokenText {
    try TokenText(access: try access(), refresh: try refresh(), expires: expires, issued: issued)
  }

  /// The mark in the text; `nil` if there is none, or none of this version.
  var mark: RefreshMark? {
    guard let markRange else { return nil }
    return content.withBytes { _, body in
      body.withUnsafeBytes { RefreshMark(text: UnsafeRawBufferPointer(rebasing: $0[markRange])) }
    }
  }

  /// Whether there is a refresh token.
  var isRefreshable: Bool { refreshRange != nil }

  /// The access token, which may be empty or contain control characters: see ``Secret/isAccessToken``.
  func access() throws(VaultError) -> Secret<String> { try secret(accessRange) }

  /// The refresh token; `nil` if there is none.
  func refresh() throws(VaultError) -> Secret<String>? {
    guard let refreshRange else { return nil }
    return try secret(refreshRange)
  }

  /// The text at `range` without its escapes.
  private func secret(_ range: Range<Int>) throws(VaultError) -> Secret<String> {
    var bytes = try SecretBytes(count: range.count)
    let count = content.withBytes { _, body in
      body.withUnsafeBytes { body in
        bytes.withUnsafeMutableBytes { Members.unescape(UnsafeRawBufferPointer(rebasing: body[range]), to: $0) }
      }
    }
    guard let count else { throw VaultError(.typeMismatch, "a token has an escape of a character outside ASCII") }
    return try bytes.withSpan { (bytes) throws(VaultError) in try Secret(copying: bytes.extracting(..<count)) }
  }

  private struct Writer: ~Copyable {
    var bytes: SecretBytes
    var count = 0

    mutating func add(_ text: String) { for byte in text.utf8 { add(byte) } }

    mutating func add(_ byte: UInt8) {
      bytes.withUnsafeMutableBytes { $0[count] = byte }
      count += 1
    }

    mutating func add(_ secret: Secret<String>) {
      add(UInt8(ascii: "\""))
      secret.withBytes { text in
        text.withUnsafeBytes { text in
          for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
              add(UInt8(ascii: "\\"))
              add(byte)
            case ..<0x20:
              add("\\u00")
              for digit in [byte >> 4, byte & 15] { add(digit + UInt8(ascii: digit < 10 ? "0" : "W")) }
            default: add(byte)
            }
          }
        }
      }
      add(UInt8(ascii: "\""))
    }

    /// The most bytes that the text takes: an escape has six.
    static func length(of secret: Secret<String>) -> Int {
      secret.withBytes { text in
        text.withUnsafeBytes { text in text.reduce(0) { $0 + ($1 < 0x20 ? 6 : 2) } }
      }
    }

    func content(_ kind: ValueKind) throws(VaultError) -> GuardedContent {
      try bytes.withSpan { (bytes) throws(VaultError) in
        try GuardedContent(checking: kind, bytes.extracting(..<count))
      }
    }
  }

  /// The places of the members of a JSON object whose values are text and integers.
  private struct Members {
    private(set) var texts: [String: Range<Int>] = [:]
    private(set) var integers: [String: Int64] = [:]
    private var position = 0

    /// - Returns: `nil` if `json` is anything else.
    init?(_ json: UnsafeRawBufferPointer) {
      guard take("{", json) else { return nil }
      repeat {
        guard let range = text(json), take(":", json) else { return nil }
        let name = String(decoding: json[range], as: UTF8.self)
        if let range = text(json) {
          texts[name] = range
        } else if let number = integer(json) {
          integers[name] = number
        } else {
          return nil
        }
      } while take(",", json)
      guard take("}", json) else { return nil }
      skipSpaces(json)
      guard position == json.count else { return nil }
    }

    private mutating func skipSpaces(_ json: UnsafeRawBufferPointer) {
      while position < json.count, [0x20, 0x09, 0x0A, 0x0D].contains(json[position]) { position += 1 }
    }

    private mutating func take(_ sign: Unicode.Scalar, _ json: UnsafeRawBufferPointer) -> Bool {
      skipSpaces(json)
      guard position < json.count, json[position] == UInt8(ascii: sign) else { return false }
      position += 1
      return true
    }

    /// The bytes between two quotation marks, with their escapes.
    private mutating func text(_ json: UnsafeRawBufferPointer) -> Range<Int>? {
      guard take("\"", json) else { return nil }
      let start = position
      while position < json.count, json[position] != UInt8(ascii: "\"") {
        position += json[position] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard position < json.count else { return nil }
      defer { position += 1 }
      return start..<position
    }

    private mutating func integer(_ json: UnsafeRawBufferPointer) -> Int64? {
      let digits = json.dropFirst(position).prefix { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
      position += digits.count
      return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// - Returns: the number of bytes written; `nil` for an escape of a character outside ASCII, which no token needs.
    static func unescape(_ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawBufferPointer) -> Int? {
      var (count, position) = (0, 0)
      while position < text.count {
        var byte = text[position]
        position += 1
        if byte == UInt8(ascii: "\\") {
          byte = text[position]
          position += 1
          switch byte {
          case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): break
          case UInt8(ascii: "b"): byte = 0x08
          case UInt8(ascii: "f"): byte = 0x0C
          case UInt8(ascii: "n"): byte = 0x0A
          case UInt8(ascii: "r"): byte = 0x0D
          case UInt8(ascii: "t"): byte = 0x09
          case UInt8(ascii: "u"):
            let digits = text[position...].prefix(4)
            guard digits.count == 4, let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), code < 0x80
            else { return nil }
            byte = code
            position += 4
          default: return nil
          }
        }
        out[count] = byte
        count += 1
      }
      return count
    }
  }
}
