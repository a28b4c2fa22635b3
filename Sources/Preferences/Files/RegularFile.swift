import DurableFiles

/// Reads whole files of bounded size.
package enum RegularFile {
  /// Reads the regular file at `path`, of at most `limit` bytes.
  ///
  /// - Parameter isPrivate: whether a file that other users can access, or that has a different owner, is refused.
  /// - Throws: `notFound`, `unreadable`, `exposed`, `limitExceeded`.
  package static func read(
    _ path: String, upTo limit: Int, isPrivate: Bool = false
  ) throws(PreferencesError) -> [UInt8] {
    let (file, status) = try open(path, isPrivate: isPrivate)
    return try read(file, expecting: Int(status.st_size), upTo: limit)
  }

  /// Opens the regular file at `path`.
  static func open(
    _ path: String, _ flags: CInt = O_RDONLY, isPrivate: Bool
  ) throws(PreferencesError) -> (file: Descriptor, status: stat) {
    // A C string ends at the first NUL, so a different file would be opened.
    guard !path.utf8.contains(0) else { throw PreferencesError(.unreadable, "the path contains NUL") }
    // Without O_NONBLOCK, opening a FIFO blocks until it has a writer.
    let file = try Descriptor.open(path, flags | O_NONBLOCK | O_NOCTTY) { number in
      let isMissing = number == ENOENT || number == ENOTDIR
      return .system(isMissing ? .notFound : .unreadable, "cannot be opened", number)
    }
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PreferencesError(.unreadable, "not a regular file")
    }
    guard !isPrivate || (status.st_mode & 0o077 == 0 && status.st_uid == geteuid()) else {
      throw PreferencesError(.exposed, "the file is not this user's alone")
    }
    return (file, status)
  }

  static func read(
    _ file: Descriptor, expecting size: Int, upTo limit: Int
  ) throws(PreferencesError) -> [UInt8] {
    let tooLarge = PreferencesError(.limitExceeded, "the file has more than \(limit) bytes")
    guard size <= limit else { throw tooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    // The size is a hint: the file may grow while it is read, and files in /proc have size 0.
    while true {
      let start = bytes.count
      let count = try chunk.withUnsafeMutableBufferPointer { (chunk) throws(PreferencesError) in
        try file.read(into: UnsafeMutableRawBufferPointer(chunk), at: start)
      }
      guard start + count <= limit else { throw tooLarge }
      bytes += chunk[..<count]
      if count < chunk.count { return bytes }
    }
  }
}
