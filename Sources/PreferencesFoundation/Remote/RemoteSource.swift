import CPreferencesCurl
import Foundation
import Preferences

/// Where remote values are, and how far one goes for them.
struct RemoteSource: Sendable {
  /// What a server calls a version of its content, and from where it came: another place may use the same names.
  struct Version: Sendable {
    var url: String
    var entityTag: String?
    var lastModified: String?
  }

  /// What was at the source.
  struct Content: Sendable {
    var bytes: [UInt8]
    var version: Version
  }

  private static let redirectStatuses = [301, 302, 303, 307, 308]

  let url: String
  let timeout: Duration
  let maximumByteCount: Int
  let maximumRedirectCount: Int

  /// Gets what is there now; nil when it still is `known`.
  ///
  /// - Parameters:
  ///   - headers: lines that only the source's own origin gets.
  ///   - isWanted: asked at least once a second; false ends it.
  /// - Throws: `unreachable`, `unexpectedStatus`, `refusedRedirect`, `limitExceeded`, `malformed`.
  func content(
    since known: Version?, headers: [HeaderLine], while isWanted: @escaping () -> Bool
  ) throws(PreferencesError) -> Content? {
    let deadline = ContinuousClock.now + timeout
    var place = url
    for _ in 0...max(0, maximumRedirectCount) {
      let conditions = conditions(since: known, at: place)
      let own = place == url || ccurl_step(url, place) == CCURL_SAME_ORIGIN ? headers : []
      let lines = Self.lines(own) + conditions
      let answer = try HTTPTransfer.get(
        place, headers: lines, by: deadline, upTo: maximumByteCount, while: isWanted)
      switch answer.head.status {
      case let status where HTTPTransfer.contentStatuses.contains(status):
        guard !answer.head.isEncoded else {
          throw PreferencesError(.malformed, "the answer is encoded, which was not asked for")
        }
        let version = Version(url: place, entityTag: answer.head.entityTag, lastModified: answer.head.lastModified)
        return Content(bytes: answer.body, version: version)
      case 304 where !conditions.isEmpty: return nil
      case let status where Self.redirectStatuses.contains(status):
        place = try Self.next(answer.head.location, from: place)
      case let status:
        throw PreferencesError(
          .unexpectedStatus, "the server answered with status \(status)", cause: UnexpectedStatus(status: status))
      }
    }
    throw PreferencesError(.refusedRedirect, "more than \(max(0, maximumRedirectCount)) redirects")
  }

  /// The lines with those that every request has, unless there are some of that name.
  private static func lines(_ own: [HeaderLine]) -> [String] {
    // Some servers answer nobody without a name; and without the other line any encoding would be welcome.
    let usual = [HeaderLine("User-Agent", "SecretPreferences"), HeaderLine("Accept-Encoding", "identity")]
    return (usual.filter { line in !own.contains { $0.isSameField(as: line) } } + own).map(\.text)
  }

  private func conditions(since known: Version?, at place: String) -> [String] {
    guard let known, known.url == place else { return [] }
    return [known.entityTag.map { "If-None-Match: \($0)" }, known.lastModified.map { "If-Modified-Since: \($0)" }]
      .compactMap(\.self)
  }

  static func next(_ location: String?, from place: String) throws(PreferencesError) -> String {
    guard let location, !location.isEmpty, let next = ccurl_resolve(place, location) else {
      throw PreferencesError(.refusedRedirect, "a redirect that leads nowhere")
    }
    defer { free(next) }
    switch ccurl_step(place, next) {
    case CCURL_NOWHERE: throw PreferencesError(.refusedRedirect, "a redirect to something else than HTTP")
    case CCURL_DOWNGRADE: throw PreferencesError(.refusedRedirect, "a redirect from https to http")
    default: return String(cString: next)
    }
  }
}
