import CPreferencesCurl
import Foundation
import Preferences

/// The address of remote values, with the limits of a request.
struct RemoteSource: Sendable {
  /// The server's identifier of a version of its content, with the address it came from: a different address may use
  /// the same identifier.
  struct Version: Sendable {
    var url: String
    var entityTag: String?
    var lastModified: String?
  }

  /// The content of the source.
  struct Content: Sendable {
    var bytes: [UInt8]
    var version: Version
  }

  private static let redirectStatuses = [301, 302, 303, 307, 308]

  let url: String
  let timeout: Duration
  let maximumByteCount: Int
  let maximumRedirectCount: Int

  /// Requests the present content; `nil` if it is still `known`.
  ///
  /// - Parameters:
  ///   - headers: lines that are sent only to the origin of the source.
  ///   - isWanted: called at least once a second. `false` ends the request.
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
          throw PreferencesError(.malformed, "the response is encoded, which was not requested")
        }
        let version = Version(url: place, entityTag: answer.head.entityTag, lastModified: answer.head.lastModified)
        return Content(bytes: answer.body, version: version)
      case 304 where !conditions.isEmpty: return nil
      case let status where Self.redirectStatuses.contains(status):
        place = try Self.next(answer.head.location, from: place)
      case let status:
        throw PreferencesError(
          .unexpectedStatus, "the server responded with status \(status)", cause: UnexpectedStatus(status: status))
      }
    }
    throw PreferencesError(.refusedRedirect, "more than \(max(0, maximumRedirectCount)) redirects")
  }

  /// The lines, with the default ones whose names are not among them.
  private static func lines(_ own: [HeaderLine]) -> [String] {
    // Some servers refuse requests without a user agent. Without the other line any encoding would be accepted.
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
      throw PreferencesError(.refusedRedirect, "a redirect without a valid address")
    }
    defer { free(next) }
    switch ccurl_step(place, next) {
    case CCURL_NOWHERE: throw PreferencesError(.refusedRedirect, "a redirect to an address that is not HTTP")
    case CCURL_DOWNGRADE: throw PreferencesError(.refusedRedirect, "a redirect from https to http")
    default: return String(cString: next)
    }
  }
}
