import Foundation

/// A separate home for one test, removed after it.
final class Scratch: Sendable {
  let path: String
  /// A folder on a disk.
  static let disk = "/var/tmp/"

  /// - Parameter folder: where it is; ends in a slash. The default may be in memory.
  init(in folder: String = NSTemporaryDirectory()) throws {
    var template = Array((folder + "secretprefs-test-XXXXXX").utf8CString)
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

  /// Writes a program. A shell creates the file: a process that another test starts meanwhile would inherit the open
  /// file of this one, and a file that is open for writing cannot be started.
  func writeProgram(_ text: String, to name: String) throws {
    try write(text, to: name + ".text")
    _ = try Tool.shell("cp \(name).text \(name) && chmod 700 \(name)", in: self)
  }
}
