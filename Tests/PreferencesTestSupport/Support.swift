import Foundation
package import Preferences

/// Found in no description, error, explanation or dump.
package let sentinel = "s3ntinel-5ecret"

/// A folder that lasts as long as `body`.
package func withTemporaryFolder(_ body: (String) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder.path)
}

/// As the synchronous form.
package func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder.path)
}

/// The preferences error that `body` throws, or nil when it throws none.
package func preferencesError(_ body: () throws -> Void) -> PreferencesError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PreferencesError
  }
}

/// What `dump` prints.
package func dumped(_ value: some Any) -> String {
  var text = ""
  dump(value, to: &text)
  return text
}

/// The same numbers at each run, for mutations that can be repeated.
package struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
