internal import Preferences
internal import VaultCore
internal import VaultSealing

/// A request of git's credential protocol, in guarded memory: lines of `name=value` up to an empty line or the end.
struct GitRequest: ~Copyable {
  /// The names of the attributes that matter here. All others are ignored.
  enum AttributeName: String, CaseIterable {
    case scheme = "protocol"
    case host, path, username, password
    case expiry = "password_expiry_utc"
    case refreshToken = "oauth_refresh_token"
    case ephemeral, authtype, credential
    case capability = "capability[]"
  }

  /// The longest line that git reads and writes, with its line feed.
  static let longestLine = 65_535

  private let bytes: SecretBytes
  private let values: [(name: AttributeName, bytes: Range<Int>)]

  init(_ bytes: consuming SecretBytes) throws {
    values = try bytes.withUnsafeBytes { try Self.parse($0) }
    self.bytes = bytes
  }

  static func read(_ helper: HelperOptions) throws -> GitRequest {
    // A caller may wait for the response without closing the pipe.
    let bytes = try helper.readRequest { bytes, seen in
      (seen..<bytes.count).contains { index in
        bytes[index] == UInt8(ascii: "\n") && (index == 0 || bytes[index - 1] == UInt8(ascii: "\n"))
      }
    }
    return try GitRequest(bytes)
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer) throws -> [(name: AttributeName, bytes: Range<Int>)] {
    var values: [(name: AttributeName, bytes: Range<Int>)] = []
    var start = 0
    while start < bytes.count {
      // Only a line feed ends a line: a reader that also accepts a carriage return would see different lines.
      guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { throw refusal("is cut off") }
      let line = bytes[start..<end]
      start = end + 1
      if line.isEmpty { break }
      guard line.count < longestLine else { throw refusal("has a line of more than \(longestLine) bytes") }
      guard !line.contains(0), !line.contains(UInt8(ascii: "\r")) else {
        throw refusal("has a carriage return or NUL byte")
      }
      guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { throw refusal("has a line without =") }
      guard let name = AttributeName.allCases.first(where: { line[..<sign].elementsEqual($0.rawValue.utf8) }) else {
        continue
      }
      let value = line[(sign + 1)...]
      guard !hasControlCharacter(value) else { throw refusal("has a control character in \(name.rawValue)") }
      values.append((name, sign + 1..<end))
    }
    return values
  }

  /// The login that the request names; `nil` without a protocol or a host. Without them it would match every password.
  var login: GitLogin? {
    guard let scheme = copy(.scheme), let host = copy(.host), !scheme.isEmpty, !host.isEmpty else { return nil }
    return GitLogin(scheme: scheme, host: host, path: copy(.path), username: copy(.username))
  }

  /// The time from which the password is not valid, in milliseconds since 1970-01-01 UTC.
  var expiry: Int64? {
    get throws {
      guard let text = copy(.expiry) else { return nil }
      guard text.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(String(decoding: text, as: UTF8.self)),
        seconds <= Int64.max / 1000
      else { throw Self.refusal("has a \(AttributeName.expiry.rawValue) that is not a time") }
      return seconds * 1000
    }
  }

  /// The scheme of ``AttributeName/credential``, such as Bearer.
  var authtype: [UInt8]? { copy(.authtype) }

  /// Whether git takes a credential that is not a user name and a password.
  var takesAuthtype: Bool {
    // An empty value clears the list.
    let capabilities = values.filter { $0.name == .capability }.reversed().prefix { !$0.bytes.isEmpty }
    return bytes.withUnsafeBytes { bytes in
      capabilities.contains { bytes[$0.bytes].elementsEqual("authtype".utf8) }
    }
  }

  /// Whether the credential must not be stored.
  var isEphemeral: Bool { [Array("1".utf8), Array("true".utf8)].contains(copy(.ephemeral)) }

  func has(_ name: AttributeName) -> Bool { values.contains { $0.name == name } }

  /// Lends the value of an attribute to `body`; of several, the last. Returns `nil` if there is none.
  @discardableResult
  func withBytes<R, E: Error>(of name: AttributeName, _ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    guard let place = values.last(where: { $0.name == name })?.bytes else { return nil }
    return try bytes.withSpan { (bytes) throws(E) in try body(bytes.extracting(place)) }
  }

  /// A value that is not secret.
  private func copy(_ name: AttributeName) -> [UInt8]? {
    withBytes(of: name) { span in span.withUnsafeBytes { Array($0) } }
  }

  private static func refusal(_ what: String) -> PreferencesError {
    PreferencesError(.malformed, "the request \(what); it is not answered")
  }
}
