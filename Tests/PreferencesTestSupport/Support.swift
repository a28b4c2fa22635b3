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

/// As the synchronous form.
package func preferencesError(_ body: () async throws -> Void) async -> PreferencesError? {
  do {
    try await body()
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
