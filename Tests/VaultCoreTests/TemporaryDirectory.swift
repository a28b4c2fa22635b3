import DurableFiles
import Foundation

/// A directory of mode 0700 that is removed after the test. Vaults at paths in it are kept as ``StorageKind/ofTest``
/// says.
enum TemporaryDirectory {
  static func with<R>(_ body: (String) throws -> R) throws -> R {
    let path = try make()
    defer { remove(path) }
    return try body(path)
  }

  static func with<R>(_ body: (String) async throws -> R) async throws -> R {
    let path = try make()
    defer { remove(path) }
    return try await body(path)
  }

  private static func make() throws -> String {
    let path = NSTemporaryDirectory() + "secretprefs-test-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    TestVaults.begin(path)
    return path
  }

  private static func remove(_ path: String) {
    TestVaults.end(path)
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// Whether no write has left a temporary file in the directory of `path`.
func leavesNothing(beside path: String) -> Bool { LeftoverFile.all(in: PathName.directory(of: path)).isEmpty }
