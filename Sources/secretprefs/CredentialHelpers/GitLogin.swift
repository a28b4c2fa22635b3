internal import PreferenceFiles

/// Whom a password is for, in the terms of git: the parts of a URL. `nil` where a request says nothing.
///
/// A record with a password has the login as its key, for example `https://alice@git.example:8443/shop.git`.
struct GitLogin: Equatable {
  let scheme: [UInt8]
  /// With the port.
  let host: [UInt8]
  /// Without the leading slash.
  var path: [UInt8]?
  var username: [UInt8]?

  /// The key of the refresh token that belongs to the password under `key`.
  static func refreshKey(_ key: String) -> String { key + "#oauth_refresh_token" }

  /// The login as a URL. All bytes except letters, digits and a few marks are percent-encoded, so that a login has one
  /// spelling, and the names of users may have any bytes.
  var key: String {
    let url =
      Self.encoded(scheme, "+") + "://" + Self.encoded(username ?? [], "") + "@" + Self.encoded(host, ":[]")
    return path.map { url + "/" + Self.encoded($0, "/") } ?? url
  }

  /// The login that a key names; `nil` if it is not the key of a password.
  init?(key: String) {
    var bytes = Array(key.utf8)
    let parsed = bytes.withUnsafeMutableBytes { Self.parse(0..<$0.count, in: $0) }
    guard let parsed, parsed.password == nil, !key.contains("#") else { return nil }
    self = parsed.login
  }

  init(scheme: [UInt8], host: [UInt8], path: [UInt8]?, username: [UInt8]?) {
    (self.scheme, self.host, self.username) = (scheme, host, username)
    self.path = path == [] ? nil : path
  }

  /// Parses `scheme://user@host/path`, in place. The path is optional, and so is `:password` after the user.
  static func parse(
    _ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer
  ) -> (login: GitLogin, password: Range<Int>?)? {
    guard let mark = bytes[range].firstRange(of: Array("://".utf8)),
      let at = bytes[mark.upperBound..<range.upperBound].firstIndex(of: UInt8(ascii: "@"))
    else { return nil }
    let colon = bytes[mark.upperBound..<at].firstIndex(of: UInt8(ascii: ":"))
    let slash = bytes[at + 1..<range.upperBound].firstIndex(of: UInt8(ascii: "/"))
    guard let user = DecodedText.percent(mark.upperBound..<(colon ?? at), in: bytes),
      let host = DecodedText.percent(at + 1..<(slash ?? range.upperBound), in: bytes),
      let path = DecodedText.percent(
        min((slash ?? range.upperBound) + 1, range.upperBound)..<range.upperBound, in: bytes)
    else { return nil }
    var password: Range<Int>?
    if let colon {
      password = DecodedText.percent(colon + 1..<at, in: bytes)
      guard password != nil else { return nil }
    }
    let login = GitLogin(
      scheme: Array(bytes[range.lowerBound..<mark.lowerBound]), host: Array(bytes[host]), path: Array(bytes[path]),
      username: Array(bytes[user]))
    return (login, password)
  }

  /// Whether this request is for `stored`, by git's rule: what the request names must be equal, byte for byte.
  func matches(_ stored: GitLogin) -> Bool {
    scheme == stored.scheme && host == stored.host && (path == nil || path == stored.path)
      && (username == nil || username == stored.username)
  }

  private static func encoded(_ bytes: [UInt8], _ marks: String) -> String {
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case _ where "-._~".utf8.contains(byte) || marks.utf8.contains(byte):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }
}
