/// The names that a path depends on: each of its parts, and those of the links among them, in the order of the search.
package struct PathTrail: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// Without links.
    let folder: String
    let name: String
    /// Whether the name stands for the file itself, or for a link to it.
    let isFile: Bool

    var path: String { folder == "/" ? "/" + name : folder + "/" + name }
  }

  private(set) var steps: [Step] = []
  /// The directories of the links among them: who can write to one of these can lead the path elsewhere.
  package private(set) var linkFolders: [String] = []
  /// The file that the path leads to, without links; `nil` if there is none.
  private(set) var file: String?
  /// Whether every part could be examined, even if the last one that was found is missing.
  private(set) var isKnown = true

  /// As many as the kernel follows.
  private static let mostLinks = 40

  package init(_ path: String) {
    var rest = Self.parts(of: PathName.absolute(path))
    var (folder, links) = ("/", 0)
    while let name = rest.popLast() {
      if name == ".." {
        folder = PathName.directory(of: folder)
        continue
      }
      let step = Step(folder: folder, name: name, isFile: rest.isEmpty)
      steps.append(step)
      var status = stat()
      guard unsafe lstat(step.path, &status) == 0 else {
        isKnown = errno == ENOENT || errno == ENOTDIR
        return
      }
      if status.st_mode & S_IFMT == S_IFLNK {
        links += 1
        linkFolders.append(folder)
        guard links <= Self.mostLinks, let target = Self.target(of: step.path) else {
          isKnown = false
          return
        }
        if target.utf8.first == UInt8(ascii: "/") { folder = "/" }
        rest += Self.parts(of: target)
      } else {
        if rest.isEmpty { file = step.path }
        folder = step.path
      }
    }
  }

  /// The parts of a path, the first one last.
  private static func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }.reversed()
  }

  private static func target(of link: String) -> String? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      let count = unsafe readlink(link, buffer.baseAddress!, buffer.count)
      guard count > 0, count < buffer.count else { return nil }
      return unsafe String(validating: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
    }
  }
}

/// What distinguishes one content of a file from another, as far as the system shows it.
struct FileStamp: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let modified: [Int]
  var isEmpty: Bool { size == 0 }
  /// Whether another program may have created the file and not yet have written all of it: it has no other name.
  let mayBeIncomplete: Bool

  /// - Returns: `nil` if there is no file at the path.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    let times = [status.st_mtim, status.st_ctim]
    modified = times.flatMap { [Int($0.tv_sec), Int($0.tv_nsec)] }
    mayBeIncomplete = status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
  }

  func isSameFile(as other: FileStamp?) -> Bool { device == other?.device && inode == other?.inode }
}
