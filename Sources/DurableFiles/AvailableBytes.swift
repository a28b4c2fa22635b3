/// The space that this process can use in the file system of a directory, in bytes; `nil` if it is unknown.
package func availableBytes(_ directory: String) -> UInt64? {
  var status = statvfs()
  guard unsafe statvfs(directory, &status) == 0 else { return nil }
  return UInt64(status.f_bavail) * UInt64(status.f_frsize)
}
