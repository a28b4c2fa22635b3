internal import DurableFiles
internal import Preferences

/// What a password is for: the parts of a URL, as git names them. `nil` for a part that a request does not have.
///
/// A record with a password has the login as its key, for example `https://alice@git.example:8443/shop.git`. The key
/// of a token without a user lacks `alice@`.
struct GitLogin: Equatable {
  let scheme: [UInt8]
  /// Includes the port.
  let host: [UInt8]
  /// Without the leading slash.
  var path: [UInt8]?
  var username: [UInt8]?

  /// The key of the refresh token that belongs to the password under `key`.
  static func refreshKey(_ key: String) -> String { key + "#oauth_refresh_token" }

  /// The login as a URL. All bytes except letters, digits and a few marks are percent-encoded, so that a login has one
  /// spelling, and a user name may have any bytes.
  var key: String {
    let user = username.map { Self.encoded($0, "") + "@" } ?? ""
    let url = Self.encoded(scheme, "+") + "://" + user + Self.encoded(host, ":[]")
    return path.map { url + "/" + Self.encoded(path: $0) } ?? url
  }

  /// The login that a key names; `nil` if it is not the key of a password.
  init?(key: String) {
    var bytes = Array(key.utf8)
    let parsed = bytes.withUnsafeMutableBytes { Self.parse(0..<$0.count, in: $0) }
    guard let parsed, parsed.password == nil, !key.contains("#") else { return nil }
    self = parsed.login
  }

  init(scheme: [UInt8], host: [UInt8], path: [UInt8]?, username: [UInt8]?) {
    self.scheme = scheme
    self.host = host
    self.username = username
    self.path = path == [] ? nil : path
  }

  /// A line of git's credential store, decoded in place as git decodes it.
  ///
  /// What is not percent-encoded stands for itself, as in `100%`, and so does all that is in front of a colon.
  static func parse(
    storedLine range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer
  ) -> (login: GitLogin, password: Range<Int>?)? {
    parse(range, in: bytes, ending: "/?#") { DecodedText.gitPercent($0, in: bytes) }
  }

  /// Parses `scheme://user:password@host/path`, in place. All parts but scheme and host are optional.
  static func parse(
    _ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer
  ) -> (login: GitLogin, password: Range<Int>?)? {
    parse(range, in: bytes, ending: "/") { DecodedText.percent($0, in: bytes) }
  }

  private static func parse(
    _ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer, ending marks: String,
    decoding decoded: (Range<Int>) -> Range<Int>?
  ) -> (login: GitLogin, password: Range<Int>?)? {
    guard let mark = bytes[range].firstRange(of: Array("://".utf8)) else { return nil }
    let end =
      bytes[mark.upperBound..<range.upperBound].firstIndex { marks.utf8.contains($0) } ?? range.upperBound
    var host = mark.upperBound..<end
    var username: [UInt8]?
    var password: Range<Int>?
    if let at = bytes[host].firstIndex(of: UInt8(ascii: "@")) {
      let colon = bytes[host.lowerBound..<at].firstIndex(of: UInt8(ascii: ":"))
      guard let user = decoded(host.lowerBound..<(colon ?? at)) else { return nil }
      username = Array(bytes[user])
      if let colon {
        password = decoded(colon + 1..<at)
        guard password != nil else { return nil }
      }
      host = at + 1..<end
    }
    // git trims the slashes around a path, and keeps the other marks in front of it.
    let slash = UInt8(ascii: "/")
    let path = bytes[end..<range.upperBound].drop { $0 == slash }
    let last = path.lastIndex { $0 != slash }.map { $0 + 1 } ?? path.startIndex
    guard let host = decoded(host), let path = decoded(path.startIndex..<last) else { return nil }
    let scheme = Array(bytes[range.lowerBound..<mark.lowerBound])
    return (GitLogin(scheme: scheme, host: Array(bytes[host]), path: Array(bytes[path]), username: username), password)
  }

  /// Whether this request is for `stored`, by git's rule: what the request names must be equal, byte for byte.
  func matches(_ stored: GitLogin) -> Bool {
    scheme == stored.scheme && host == stored.host && (path == nil || path == stored.path)
      && (username == nil || username == stored.username)
  }

  /// Slashes at the ends of a path are encoded: around the path of a URL they do not count.
  private static func encoded(path: [UInt8]) -> String {
    let slash = UInt8(ascii: "/")
    let first = path.firstIndex { $0 != slash } ?? path.endIndex
    let last = path[first...].lastIndex { $0 != slash }.map { $0 + 1 } ?? first
    return encoded(Array(path[..<first]), "") + encoded(Array(path[first..<last]), "/")
      + encoded(Array(path[last...]), "")
  }

  private static func encoded(_ bytes: [UInt8], _ marks: String) -> String {
    PercentEncoding.encoded(bytes, keeping: "-._~" + marks)
  }
}
