internal import DurableFiles
internal import VaultCore

extension OutputFile {
  /// Replaces a file that exists, and keeps its owner, mode and access control list. Durable when the call returns.
  ///
  /// - Parameter write: writes the content.
  static func replace(
    _ path: String, kind: OwnFile, _ write: (Descriptor<VaultError>) throws(VaultError) -> Void
  ) throws(VaultError) {
    // The rename would replace a link, so the link is resolved.
    let path = PathName.resolved(path) ?? path
    var status = stat()
    guard stat(path, &status) == 0 else { throw .io("\(path): stat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.insecurePermissions, "\(path) is not a regular file, and cannot be replaced")
    }
    _ = try WholeFile<VaultError>(path, kind: kind).replace { (file) throws(VaultError) in
      let new = try file.status()
      if (new.st_uid, new.st_gid) != (status.st_uid, status.st_gid) {
        guard fchown(file.raw, status.st_uid, status.st_gid) == 0 else { throw .io("\(path): keep the owner") }
      }
      try file.keepAccess(of: path, mode: status.st_mode & 0o777)
      try write(file)
      try file.synchronize()
    }
    try synchronize(PathName.directory(of: path))
  }

  /// Makes the names in a directory durable.
  /// - Throws: ``VaultError/Code/durabilityUnknown``, such as for a directory that is not readable.
  static func synchronize(_ directory: String) throws(VaultError) {
    do throws(VaultError) {
      guard try Descriptor<VaultError>.synchronizeDirectory(directory) else {
        throw .io("\(directory): open the directory")
      }
    } catch {
      throw VaultError(.durabilityUnknown, error.message, errno: error.errno, cause: error)
    }
  }
}
