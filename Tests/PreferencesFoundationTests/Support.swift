import Foundation
import Preferences

/// Found in no description, error or dump.
let sentinel = "s3ntinel-5ecret"

/// A folder that lasts as long as `body`.
func withTemporaryFolder<R>(_ body: (String) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder.path)
}

/// As the synchronous form.
func withTemporaryFolder<R>(_ body: (String) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.path)
}

/// The preferences error that `body` throws, or nil when it throws none.
func preferencesError(_ body: () throws -> Void) -> PreferencesError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PreferencesError
  }
}

/// What `dump` prints.
func dumped(_ value: some Any) -> String {
  var text = ""
  dump(value, to: &text)
  return text
}
