import Foundation
import PreferencesSettings
import Preferences
import Synchronization

/// What an observer has received.
final class Log<Entry: Sendable>: Sendable {
  private let log = Mutex<[Entry]>([])

  var entries: [Entry] { log.withLock { $0 } }
  func append(_ entry: Entry) { log.withLock { $0.append(entry) } }
}

/// A clock that moves a second with each look.
final class SteppingClock: Sendable {
  private let seconds = Mutex(0.0)

  @Sendable func now() -> Date {
    seconds.withLock { seconds in
      seconds += 1
      return Date(timeIntervalSince1970: seconds)
    }
  }
}

extension Date {
  /// The time that a stepping clock returns at its look number `look`.
  static func look(_ look: Int) -> Date { Date(timeIntervalSince1970: Double(look)) }
}

extension FieldLoadState {
  var isNotLoaded: Bool { if case .notLoaded = self { true } else { false } }
  var isLoading: Bool { if case .loading = self { true } else { false } }
  var isLoaded: Bool { if case .loaded = self { true } else { false } }
  var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}

/// An observer with the values that it has received.
final class Label: FieldObserver {
  let log = Log<String?>()
  func valueChanged(_ value: String?, of field: Field<String>) { log.append(value) }
}

/// An object that owns closures and is no observer.
final class Owner: FieldOwner, Sendable {}
