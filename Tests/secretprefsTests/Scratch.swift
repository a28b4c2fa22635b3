import Foundation

/// A separate home for one test, removed after it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array((NSTemporaryDirectory() + "secretprefs-test-XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
    guard let made else { throw CocoaError(.fileWriteUnknown) }
    path = String(cString: made)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: file(name)))
    chmod(file(name), 0o600)
  }
}
