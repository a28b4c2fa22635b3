import Foundation
import FoundationNetworking
import Preferences
import PreferencesFoundation
import Testing

struct CookiePreferencesTests {
  /// In memory, of this test alone.
  private let storage = URLSessionConfiguration.ephemeral.httpCookieStorage!

  private func add(
    _ name: String, _ value: String, domain: String = "example.com", path: String = "/", isSecure: Bool = false,
    expires: Date? = nil
  ) throws {
    var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: domain, .path: path]
    if isSecure { properties[.secure] = "TRUE" }
    if let expires { properties[.expires] = expires }
    storage.setCookie(try #require(HTTPCookie(properties: properties)))
  }

  @Test func `item 20: a cookie is found by its name`() throws {
    try add("session", "abc")
    try add("theme", "dark", domain: ".example.org", path: "/a")
    let cookies = CookiePreferences(storage)
    #expect(try cookies.string(forKey: "session") == "abc")
    #expect(cookies["theme"] == "dark")
    #expect(try cookies.value(forKey: "Session") == nil)
    #expect(try cookies.keys() == ["session", "theme"])
    #expect(try cookies.dictionary() == ["session": "abc", "theme": "dark"])
  }

  @Test func `item 20: a cookie is text, which is parsed as the kind that is requested`() throws {
    try add("count", "15")
    try add("yes", "true")
    let cookies = CookiePreferences(storage)
    #expect(try cookies.integer(forKey: "count") == 15)
    #expect(try cookies.bool(forKey: "yes") == true)
    #expect(try cookies.value(forKey: "count") == "15")
    let error = preferencesError { _ = try cookies.integer(forKey: "yes") }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "key \"yes\": the cookie does not parse as integer")
  }

  /// Domain and path of two cookies of one name, the first of which counts.
  static let rivals: [[(domain: String, path: String)]] = [
    [("example.com", "/a/b"), ("example.com", "/a")],
    [("a.com", "/a"), ("www.example.com", "/")],
    [("www.example.com", "/"), ("example.com", "/")],
    [("a.example.com", "/"), ("b.example.com", "/")],
    [("example.com", "/a"), ("example.com", "/b")],
  ]

  @Test(arguments: rivals, [false, true])
  func `item 20: of several cookies with one name one counts, for every reader and in any order`(
    pair: [(domain: String, path: String)], isReversed: Bool
  ) throws {
    try add(
      "k", isReversed ? "second" : "first", domain: pair[isReversed ? 1 : 0].domain, path: pair[isReversed ? 1 : 0].path
    )
    try add(
      "k", isReversed ? "first" : "second", domain: pair[isReversed ? 0 : 1].domain, path: pair[isReversed ? 0 : 1].path
    )
    let cookies = CookiePreferences(storage)
    for _ in 0..<20 {
      #expect(try cookies.value(forKey: "k") == "first")
      #expect(try cookies.dictionary() == ["k": "first"])
    }
    #expect(try cookies.keys() == ["k"])
  }

  static let sent: [(String, [String])] = [
    ("https://example.com/", ["domain", "host", "secure"]),
    ("http://example.com/", ["domain", "host"]),
    ("http://EXAMPLE.com", ["domain", "host"]),
    ("https://www.example.com/a", ["domain", "path"]),
    ("https://www.example.com/a/b?c", ["domain", "path"]),
    ("https://www.example.com/ab", ["domain"]),
    ("https://badexample.com/", []), ("https://example.com.evil.org/", []), ("mailto:a@example.com", []),
  ]

  @Test(arguments: sent)
  func `only the cookies that are sent with a request count`(url: String, names: [String]) throws {
    try add("host", "1")
    try add("domain", "1", domain: ".example.com")
    try add("secure", "1", isSecure: true)
    try add("path", "1", domain: ".example.com", path: "/a")
    try add("other", "1", domain: "example.org")
    let cookies = CookiePreferences(storage, sentTo: try #require(URL(string: url)))
    // The path cookie of `.example.com` is sent to `example.com/a` as well, but not to its root.
    #expect(try cookies.keys() == names)
    #expect(try cookies.contains("other") == false)
  }

  @Test(arguments: [
    ("example.com", ["domain", "host"]), (".Example.com", ["domain", "host"]), ("a.example.com", ["domain"]),
  ])
  func `only the cookies of a domain count`(domain: String, names: [String]) throws {
    try add("host", "1", path: "/deep", isSecure: true)
    try add("domain", "1", domain: ".example.com")
    try add("other", "1", domain: "notexample.com")
    #expect(try CookiePreferences(storage, domain: domain).keys() == names)
  }

  @Test func `a cookie past its time does not count`() throws {
    try add("k", "old", path: "/longer", expires: Date(timeIntervalSinceNow: 0.02))
    try add("k", "new")
    let cookies = CookiePreferences(storage)
    let end = ContinuousClock.now + .seconds(30)
    while try cookies.value(forKey: "k") == "old" && .now < end {}
    #expect(cookies["k"] == "new")
  }

  @Test func `a name against the rule is an error, and not listed`() throws {
    try add("", "empty")
    try add("ok", "1")
    let cookies = CookiePreferences(storage)
    #expect(try cookies.keys() == ["ok"])
    #expect(preferencesError { _ = try cookies.value(forKey: "") }?.code == .invalidKey)
    #expect(preferencesError { _ = try cookies.value(forKey: "a\u{0}") }?.code == .invalidKey)
  }

  @Test func `a cookie is not returned for a secret key, which a composite looks up in the vault`() throws {
    try add("token", sentinel)
    let cookies = CookiePreferences(storage)
    #expect(!cookies.custody.holds(.secret))
    #expect(try cookies.lookUp(PreferenceQuery("token", as: .string, secrecy: .secret)) == nil)
  }

  @Test func `neither description, dump nor error shows a value`() throws {
    try add("token", sentinel)
    let cookies = CookiePreferences(storage, sentTo: URL(string: "https://me:\(sentinel)@example.com/a?\(sentinel)")!)
    #expect(cookies["token"] == .string(sentinel))
    #expect(cookies.name == "cookies of example.com/a")
    for text in ["\(cookies)", dumped(cookies)] { #expect(!text.contains(sentinel)) }
    let error = preferencesError { _ = try cookies.integer(forKey: "token") }
    #expect(error != nil)
    #expect(!dumped(error as Any).contains(sentinel))
  }

  @Test func `readers of one storage are one store, readers of another are not`() {
    let other = URLSessionConfiguration.ephemeral.httpCookieStorage!
    #expect(CookiePreferences(storage).identity == CookiePreferences(storage).identity)
    #expect(CookiePreferences(storage).identity != CookiePreferences(other).identity)
    #expect(CookiePreferences(storage).identity != CookiePreferences(storage, domain: "a").identity)
  }

  @Test func `item 25: cookies are read while they change`() async throws {
    let cookies = CookiePreferences(storage)
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask { [storage] in
          for number in 0..<200 {
            let properties: [HTTPCookiePropertyKey: Any] = [
              .name: "k\(number % 10)", .value: "\(task)", .domain: "example.com", .path: "/\(task)",
            ]
            if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
          }
        }
        group.addTask { for _ in 0..<200 { _ = cookies["k5"] } }
      }
    }
    #expect(try cookies.keys().count == 10)
  }
}
