internal import DurableFiles
internal import Secrets
internal import VaultCore

/// The folder of the user's settings, and the files in it. Only the user and root can change them, or they are refused.
enum ConfigurationFolder {
  /// `secretprefs` in `$XDG_CONFIG_HOME`, or in `~/.config`; `nil` without both. A relative path does not count, by the
  /// rules of XDG.
  static var path: String? {
    get throws(VaultError) {
      if let folder = try Environment.text("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder + "/secretprefs" }
      _ = try Environment.text("HOME")
      return home.map { $0 + "/.config/secretprefs" }
    }
  }

  /// The folder, or a usage error if there is no home directory.
  static var required: String {
    get throws {
      let hint = "set XDG_CONFIG_HOME or HOME"
      guard let path = try path else {
        throw ToolError.usage("there is no home directory for settings", hint: hint)
      }
      try refuseMissingHome(of: path, hint: hint)
      return path
    }
  }

  /// Refuses a path in a home directory that does not exist: no command makes one.
  ///
  /// - Parameter hint: how a different path is named.
  static func refuseMissingHome(of path: String, hint: String) throws(ToolError) {
    guard let home, path.hasPrefix("\(home)/"), access(home, F_OK) != 0, errno == ENOENT else { return }
    throw .usage("the home directory \(home) does not exist", hint: hint)
  }

  /// `nil` if it is not an absolute path in UTF-8.
  static var home: String? {
    getenv("HOME").flatMap { String(validatingCString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Reads a file of the folder. `nil` if there is none, or if a directory on the way cannot be searched.
  ///
  /// - Parameter what: What the file is, for errors.
  static func read(_ path: String, _ what: String, atMost limit: Int) throws(VaultError) -> [UInt8]? {
    let file: Descriptor<VaultError>
    do throws(VaultError) {
      file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) {
        .io("\(path): open \(what)", $0)
      }
    } catch {
      let number = error.errno
      let isHidden = number == EACCES && ExaminedPath(path).status() == nil
      guard number != ENOENT, number != ENOTDIR, !isHidden else { return nil }
      throw error
    }
    defer { extendLifetime(file) }
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.io, "\(path): \(what) is not a regular file", errno: EINVAL)
    }
    try check(status, path, what)
    try checkFolder(of: path)
    for folder in PathTrail(path).linkFolders { try check(folder: folder) }
    // A link leads to a file in another directory.
    if let real = ExaminedPath(path).status(followingLinks: false), real.st_mode & S_IFMT == S_IFLNK,
      let target = PathName.resolved(path)
    {
      try checkFolder(of: target)
    }
    return try read(file, path, what, atMost: limit)
  }

  /// Reads an open file.
  static func read(
    _ file: Descriptor<VaultError>, _ path: String, _ what: String, atMost limit: Int
  ) throws(VaultError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = try bytes.withUnsafeMutableBytes { bytes in
      Result { () throws(VaultError) in try file.read(into: bytes, at: 0) }
    }.get()
    guard count <= limit else { throw VaultError(.limitExceeded, "\(path): \(what) has more than \(limit) bytes") }
    return Array(bytes.prefix(count))
  }

  /// Refuses a directory that others may write to.
  static func checkFolder(of path: String) throws(VaultError) { try check(folder: PathName.directory(of: path)) }

  private static func check(folder: String) throws(VaultError) {
    guard let status = ExaminedPath(folder).status() else { throw .io("\(folder): examine the directory") }
    try check(status, folder, "the directory")
  }

  private static func check(_ status: stat, _ path: String, _ what: String) throws(VaultError) {
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw VaultError(
        .insecurePermissions,
        "\(path): \(what) belongs to user \(status.st_uid), and must belong to user \(geteuid()) or root", errno: EPERM)
    }
    guard status.st_mode & 0o022 == 0 else {
      throw VaultError(
        .insecurePermissions,
        "\(path): group or others may write to \(what): its mode is \(octal(status.st_mode))",
        cause: Cure(hint: Hints.withoutWriting(path)))
    }
  }
}
