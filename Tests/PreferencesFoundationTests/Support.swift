import Foundation
import Preferences
import Synchronization

/// Found in no description, error or dump.
let sentinel = "s3ntinel-5ecret"

/// A folder that lasts as long as `body`.
func withTemporaryFolder(_ body: (String) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder.path)
}

/// As the synchronous form.
func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder.path)
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

/// Tells one task what another has done.
final class Flag: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .acquiring) }
  func set() { state.store(true, ordering: .releasing) }
}
