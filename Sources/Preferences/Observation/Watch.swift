import FoundationEssentials
import Synchronization

/// Reads again whenever a reader may have changed, and delivers the result if it differs from the previous one.
///
/// Keeps a keyed hash of the result instead of the value, so that watching a sealed layer leaves no secret in memory,
/// except for a while the parts of a list or dictionary that was read.
final class Watch<Seen: Sendable>: Sendable {
  /// Returns a value and its fingerprint.
  typealias Reading = @Sendable () throws -> (fingerprint: Int, seen: Seen)

  private struct State {
    var fingerprint: Int?
    var isFirst = true
  }

  private let state = Mutex(State())
  // Waits for the first read, so that `begin` makes it even if a different thread calls `look` in the meantime.
  private let rounds = Rounds<Watch>(awaitsFirst: true) { $0.readAndDeliver() }
  private let read: Reading
  private let deliver: @Sendable (_ seen: Seen, _ isFirst: Bool) -> Void
  private let fail: @Sendable (any Error) -> Void

  /// - Parameter deliver: receives the initial value, unless it could not be read, and then each new value.
  init(
    read: @escaping Reading, fail: @escaping @Sendable (any Error) -> Void,
    deliver: @escaping @Sendable (_ seen: Seen, _ isFirst: Bool) -> Void
  ) {
    self.read = read
    self.fail = fail
    self.deliver = deliver
  }

  /// Makes the first read. Call it once, after subscribing, so that no change is missed in between.
  func begin() { rounds.makeFirst(self) }

  /// Reads, and delivers a new value. One thread at a time reads for all, so that the value delivered last is the value
  /// written last. No lock is held meanwhile.
  func look() { rounds.request(self) }

  private func readAndDeliver() {
    do {
      let (fingerprint, seen) = try read()
      let (isNew, isFirst) = state.withLock { state in
        defer { state = State(fingerprint: fingerprint, isFirst: false) }
        return (state.fingerprint != fingerprint, state.isFirst)
      }
      if isNew { deliver(seen, isFirst) }
    } catch {
      state.withLock { $0.isFirst = false }
      fail(error)
    }
  }
}

extension PreferenceValue? {
  /// A hash that is equal for identical values in this process: -0 differs from 0, and composed accents from decomposed
  /// ones. NaN equals NaN.
  var fingerprint: Int {
    var hasher = Hasher()
    feed(&hasher)
    return hasher.finalize()
  }

  func feed(_ hasher: inout Hasher) {
    switch self {
    case .double(let number)?:
      hasher.combine(PreferenceValue.Kind.double)
      // NaN is not equal to itself, and must not be reported as a change at every read or by its sign, which no file of
      // text keeps. -0 is equal to 0, and is a change.
      hasher.combine((number.isNaN ? Double.nan : number).bitPattern)
    case .string(let text)?: PreferenceValue.hash(text.utf8Span.span.bytes, of: .string, into: &hasher)
    case .data(let data)?: PreferenceValue.hash(data.bytes, of: .data, into: &hasher)
    case .url(let url)?: PreferenceValue.hash(url.absoluteString.utf8Span.span.bytes, of: .url, into: &hasher)
    case .array(let items)?:
      hasher.combine(PreferenceValue.Kind.array)
      hasher.combine(items.count)
      for item in items { Optional(item).feed(&hasher) }
    case .dictionary(let members)?:
      hasher.combine(PreferenceValue.Kind.dictionary)
      hasher.combine(members.count)
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        PreferenceValue.hash(key.utf8Span.span.bytes, of: .string, into: &hasher)
        Optional(member).feed(&hasher)
      }
    default: hasher.combine(self)
    }
  }
}

extension PreferenceValue {
  /// Feeds the bytes of a string, a URL or data to a hasher, like the same value in ordinary memory.
  ///
  /// - Parameter bytes: the UTF-8 of a string or of an absolute URL, or the data.
  public static func hash(_ bytes: RawSpan, of kind: Kind, into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(bytes.byteCount)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
