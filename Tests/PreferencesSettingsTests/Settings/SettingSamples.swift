import Preferences
import PreferencesSettings
@_exported import PreferencesTestSupport
import Synchronization

/// Found in nothing that a secret setting shows.
let hiddenText = "SENTINEL-5f3a"

enum Theme: String, PreferenceConvertible, CaseIterable { case light, dark, automatic }

extension PreferenceKey<Int> {
  static var cats: Self { .init("cats", default: 1) }
}
extension PreferenceKey<Bool> {
  static var isMuted: Self { .init("muted", default: false) }
}
extension PreferenceKey<Theme> {
  static var theme: Self { .init("theme", default: .automatic) }
}

/// From 0 to 13 cats.
func cats(in store: any PreferencesStore, step: Int = 1) throws -> Setting<Int> {
  try Setting(.cats, in: store, title: "Cats", info: "How many there are", bounds: 0...13, step: step)
}

/// What callbacks have received, in order.
final class Received<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  var all: [Value] { values.withLock(\.self) }
  func add(_ value: Value) { values.withLock { $0.append(value) } }
}

/// The result of `body`, and the keys of the failures that it reports.
func reporting<R>(_ body: () throws -> R) rethrows -> (result: R, keys: [String]) {
  let keys = Received<String>()
  let result = try PreferenceFailures.withHandler({ keys.add($0.key) }, body)
  return (result, keys.all)
}

extension AsyncStream {
  /// The first elements, after each of which `change` makes the next.
  func collected(_ count: Int, _ change: (Int) async throws -> Void = { _ in }) async rethrows -> [Element] {
    var elements: [Element] = []
    for await element in self {
      elements.append(element)
      if elements.count == count { break }
      try await change(elements.count)
    }
    return elements
  }
}
