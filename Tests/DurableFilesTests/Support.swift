import DurableFiles
import Testing

/// The error of a file operation in these tests.
struct Failed: FileFailure, Equatable {
  let operation: FileOperation
  let path: String
  let errno: Int32
  var reason: String?

  init(_ operation: FileOperation, _ path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  init(refusing path: String, because reason: String) {
    self.init(.create, path, errno: 0)
    self.reason = reason
  }
}

typealias File = Descriptor<Failed>

extension Descriptor<Failed> {
  static func opened(_ path: String, _ flags: Int32 = O_RDWR | O_CREAT) throws(Failed) -> File {
    try open(path, flags, mode: 0o600) { Failed(.examine, path, errno: $0) }
  }

  /// At most `count` bytes from `offset`.
  func bytes(_ count: Int, at offset: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0xFF, count: count)
    let found = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    return Array(bytes[..<found])
  }
}

/// Runs `body` in a new directory, which is then removed with the files in it.
func inDirectory<R>(_ body: (_ directory: String) throws -> R) throws -> R {
  let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var template = Array("\(folder)/durable-files-XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    for name in names(in: directory) where unlink("\(directory)/\(name)") != 0 { rmdir("\(directory)/\(name)") }
    rmdir(directory)
  }
  return try body(directory)
}

/// The names in a directory, in ascending order.
func names(in directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// The bytes of a file as text.
func text(of path: String) throws -> String {
  String(decoding: try File.opened(path, O_RDONLY).bytes(100, at: 0), as: UTF8.self)
}

/// Writes a file as most programs save one: a new file takes the name.
func replace(_ path: String, with text: String) throws {
  let file = try File.opened(path + ".new")
  try file.write(Array(text.utf8), at: 0)
  try File.rename(path + ".new", to: path, replaces: true)
}
