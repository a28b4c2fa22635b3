/// The names in a directory, in no order, without `.` and `..`; `nil`, with `errno`, if it cannot be listed.
package func directoryNames(_ path: String) -> [String]? {
  guard let stream = unsafe opendir(path) else { return nil }
  defer { unsafe closedir(stream) }
  var names: [String] = []
  while let entry = unsafe readdir(stream) {
    let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}

/// The space that this process can use in the file system of a directory, in bytes; `nil` if it is unknown.
package func availableBytes(_ directory: String) -> UInt64? {
  var status = statvfs()
  guard unsafe statvfs(directory, &status) == 0 else { return nil }
  return UInt64(status.f_bavail) * UInt64(status.f_frsize)
}
