/// The names in a directory, in no order, without `.` and `..`; `nil`, with `errno`, if it cannot be listed.
package func directoryNames(_ path: String) -> [String]? {
  guard let stream = unsafe opendir(path) else { return nil }
  var number: Int32 = 0
  defer {
    unsafe closedir(stream)
    errno = number
  }
  var names: [String] = []
  while true {
    errno = 0
    guard let entry = unsafe readdir(stream) else { break }
    let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if name != ".", name != ".." { names.append(name) }
  }
  number = errno
  return number == 0 ? names : nil
}

/// The space that this process can use in the file system of a directory, in bytes; `nil` if it is unknown.
package func availableBytes(_ directory: String) -> UInt64? {
  var status = statvfs()
  guard unsafe statvfs(directory, &status) == 0 else { return nil }
  return UInt64(status.f_bavail) * UInt64(status.f_frsize)
}
