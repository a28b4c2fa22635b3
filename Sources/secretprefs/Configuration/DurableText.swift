internal import DurableFiles
internal import VaultCore

/// Writes small files that are no secrets.
enum DurableText {
  /// Creates or replaces a file. After a crash it has the old content or the new one; when this returns, the new one.
  /// A link to an existing file is followed. The file then belongs to this user.
  ///
  /// - Parameters:
  ///   - what: What the file is, for errors.
  ///   - mode: That of a new file; `nil` for the usual one of this user's new files. An old file keeps its own, and its
  ///     access control list.
  static func write(_ bytes: [UInt8], to path: String, _ what: String, mode: mode_t?) throws(VaultError) {
    let oldMode = ExaminedPath(path).status().map { $0.st_mode & 0o7777 }
    // The rename would replace a link, so the link is resolved.
    let target = PathName.resolved(path)
    guard target != nil || ExaminedPath(path).status(followingLinks: false) == nil else {
      throw VaultError(.io, "\(path): \(what) is a link to a file that is not there", errno: ENOENT)
    }
    let path = target ?? path
    _ = try WholeFile<VaultError>(path, mode: oldMode ?? mode ?? 0o666).replace { (file) throws(VaultError) in
      if let oldMode {
        try file.keepAccess(of: path, mode: oldMode)
      } else if let mode, fchmod(file.raw, mode) != 0 {
        throw .io("\(path): set the mode of \(what)")
      }
      try file.write(bytes, at: 0)
      try file.synchronize()
    }
    try OutputFile.synchronize(PathName.directory(of: path))
  }
}
