import FoundationEssentials
import Preferences
import Synchronization
import Testing

/// What observers received, in order.
final class Received<Element: Sendable>: Sendable {
  let list = Mutex<[Element]>([])

  var all: [Element] { list.withLock(\.self) }
  func add(_ element: Element) { list.withLock { $0.append(element) } }
}

/// A store in memory that counts its observers.
final class CountedPreferences: PreferencesStore {
  let base = DictionaryPreferences()
  let count = Mutex(0)

  var observerCount: Int { count.withLock(\.self) }
  var name: String { "counted" }
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try base.apply(edits) }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observation = base.observe(notify)
    count.withLock { $0 += 1 }
    return PreferenceObservation { [self] in
      observation.invalidate()
      count.withLock { $0 -= 1 }
    }
  }
}

final class Owner {}

extension PreferenceKey<Int> {
  static var watchedPort: Self { .init("server.port", default: 80) }
}

extension PreferenceKey<String?> {
  static var watchedHost: Self { .init("proxy.host") }
}
