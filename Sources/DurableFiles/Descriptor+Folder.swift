internal import CDurableFiles

/// The files of an open directory to which others may write. Names are relative to it, so what is put in the place of
/// its path meanwhile is never used.
extension Descriptor {
  /// Opens a directory, which need not be readable if its names are not listed. Does not follow a link.
  ///
  /// - Throws: what `refusal` returns for `errno`.
  package static func openFolder(_ path: String, refusal: (Int32) -> Failure) throws(Failure) -> Descriptor {
    let raw = retrying { unsafe cfiles_open_folder(path) }
    guard raw >= 0, let folder = Descriptor(above2: raw, path) else { throw refusal(errno) }
    return folder
  }

  /// The names in this directory, without `.` and `..`; `nil`, with `errno`, if it cannot be read. Names that are not
  /// UTF-8 are left out.
  ///
  /// - Parameter limit: how many entries are read.
  /// - Returns: the names, and whether there were no more.
  package func names(atMost limit: Int) -> (names: [String], isWhole: Bool)? {
    let copy = unsafe openat(raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return nil }
    guard let stream = unsafe fdopendir(copy) else {
      let number = errno
      close(copy)
      errno = number
      return nil
    }
    var number: Int32 = 0
    defer {
      unsafe closedir(stream)
      errno = number
    }
    var names: [String] = []
    var count = 0
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(validating: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      guard count < limit else { return (names, false) }
      count += 1
      if let name { names.append(name) }
    }
    number = errno
    return number == 0 ? (names, true) : nil
  }

  /// Opens a file of this directory for reading. Does not follow a link, and does not wait for the other end of a FIFO.
  ///
  /// - Throws: what `refusal` returns for `errno`.
  package func open(_ name: String, refusal: (Int32) -> Failure) throws(Failure) -> Descriptor {
    let file = retrying { unsafe openat(raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard file >= 0, let opened = Descriptor(above2: file, "\(path)/\(name)") else { throw refusal(errno) }
    return opened
  }

  /// Removes a name from this directory. Returns `false`, with `errno`, if that fails.
  package func remove(_ name: String) -> Bool { unsafe unlinkat(raw, name, 0) == 0 }
}
