#if HTTP
  import FoundationEssentials
  import NIOHTTP1
  import Preferences

  /// The header fields of a request.
  enum HTTPFields {
    /// Returns the caller's fields, and the usual fields that the caller does not set, for requests to the server of
    /// the URL.
    ///
    /// - Parameter credentials: the value of `Authorization` if the caller does not set it.
    /// - Throws: `malformed` for text that would add a field or a request. The message names the field and never its
    ///   value.
    static func own(_ fields: [String: String], credentials: String?) throws(PreferencesError) -> HTTPHeaders {
      for (field, value) in fields {
        guard !field.isEmpty, field.utf8.allSatisfy(isOfName) else {
          throw PreferencesError(.malformed, "the header field \"\(field)\" does not have a valid name")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
          throw PreferencesError(.malformed, "the header field \"\(field)\" has control characters")
        }
      }
      var headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
      for (field, value) in usual where !headers.contains(name: field) { headers.add(name: field, value: value) }
      if let credentials, !headers.contains(name: "Authorization") {
        headers.add(name: "Authorization", value: credentials)
      }
      return headers
    }

    /// The fields of a request to any other server. Some servers refuse requests without a user agent, and without
    /// `Accept-Encoding` any encoding would be accepted.
    static let usual: HTTPHeaders = ["User-Agent": "SecretPreferences", "Accept-Encoding": "identity"]

    /// The value of `Authorization` for the user and password in `url`; `nil` if it has none.
    static func credentials(in url: URL) -> String? {
      let (user, password) = (url.user(percentEncoded: false), url.password(percentEncoded: false))
      guard user != nil || password != nil else { return nil }
      return "Basic " + Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString()
    }

    /// RFC 9110, 5.6.2.
    private static func isOfName(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
  }
#endif
