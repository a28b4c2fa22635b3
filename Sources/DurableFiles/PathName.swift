/// Parts of the text of a path.
package enum PathName {
  /// The directory of the last part: `/` for `/file`, `.` for `file`.
  package static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The last part.
  package static func last(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// The absolute path, with links not resolved; `path` itself if it is empty or the working directory is unknown.
  package static func absolute(_ path: String) -> String {
    guard !path.isEmpty, !path.utf8.starts(with: "/".utf8), let here = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(here) }
    return unsafe String(validatingCString: here).map { $0 + "/" + path } ?? path
  }

  /// The names in a directory, without `.` and `..`; `nil`, with `errno`, if it cannot be read. Names that are not
  /// UTF-8 are left out.
  package static func names(in directory: String) -> [String]? {
    guard let stream = unsafe opendir(directory) else { return nil }
    var number: Int32 = 0
    defer {
      unsafe closedir(stream)
      errno = number
    }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(validating: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    number = errno
    return number == 0 ? names : nil
  }

  /// The absolute path of the file that `path` leads to, without links; `nil`, with `errno`, if there is none.
  package static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
