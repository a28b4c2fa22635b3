internal import DurableFiles
internal import FoundationEssentials
internal import VaultSealing

/// An empty directory, deleted with everything in it when the last reference is released.
final class ThrowawayDirectory: Sendable {
  let path: String

  /// - Parameter folder: where it is created; `nil` for the folder that the environment variable
  ///   `SECRETS_TESTING_FOLDER` names, or else for memory-backed storage if there is any, because its files need not
  ///   survive a power failure.
  init(in folder: String? = nil) throws(VaultError) {
    let chosen = folder ?? ProcessInfo.processInfo.environment["SECRETS_TESTING_FOLDER"]
    let parents = chosen.map { [$0] } ?? ["/dev/shm", FileManager.default.temporaryDirectory.path, "/tmp"]
    for parent in parents {
      var template = Array((parent + "/secretprefs-throwaway-XXXXXX").utf8CString)
      guard mkdtemp(&template) != nil else { continue }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return
    }
    throw VaultError(.io, "no directory for a throwaway vault", errno: errno)
  }

  deinit { remove() }

  func remove() {
    // Files that remain after a test do no harm.
    do { try FileManager.default.removeItem(atPath: path) } catch {}
  }
}
