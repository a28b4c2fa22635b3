internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The file with the settings of a project, which is used once the user trusts it.
///
/// Trust is a file in the user's folder, with the path of the project's file and the hash of its content: a file that
/// changes, or that is moved, must be trusted again.
struct ProjectFile {
  static let name = ".secretprefs"

  /// Absolute.
  let path: String

  init(_ path: String) { self.path = path }

  /// The nearest one in the working directory and those above it. Only a regular file counts, or a link, even if it
  /// leads nowhere: nothing takes the place of a file that is missing.
  static var found: ProjectFile? {
    let here = PathName.absolute(name)
    guard here.hasPrefix("/") else { return nil }
    var folder = PathName.directory(of: here)
    while true {
      let file = ProjectFile(in: folder)
      let status = ExaminedPath(file.path).status(followingLinks: false)
      if let status, [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) { return file }
      guard folder != "/" else { return nil }
      folder = PathName.directory(of: folder)
    }
  }

  /// The one in a directory, whether it exists or not.
  init(in folder: String) { path = (folder == "/" ? "" : folder) + "/" + Self.name }

  /// Reads the file. `nil` if there is none.
  func content() throws(VaultError) -> [UInt8]? {
    let what = "the project's configuration file"
    // Opening other kinds of files may block or have an effect.
    guard let named = ExaminedPath(path).status() else { return nil }
    guard named.st_mode & S_IFMT == S_IFREG else { throw Self.irregular(path, what) }
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) {
      .io("\(path): open \(what)", $0)
    }
    defer { extendLifetime(file) }
    guard try file.status().st_mode & S_IFMT == S_IFREG else { throw Self.irregular(path, what) }
    return try ConfigurationFolder.read(file, path, what, atMost: ConfigurationFile.longest)
  }

  private static func irregular(_ path: String, _ what: String) -> VaultError {
    VaultError(.io, "\(path): \(what) is not a regular file", errno: EINVAL)
  }

  /// The content, if the user trusts it; `nil` otherwise.
  ///
  /// - Parameter folder: The folder of the user's settings.
  func trustedContent(in folder: String) throws(VaultError) -> [UInt8]? {
    let record = record(in: folder)
    guard let trusted = try ConfigurationFolder.read(record, "a file of trust", atMost: Self.longestRecord) else {
      return nil
    }
    try ConfigurationFolder.checkFolder(of: PathName.directory(of: record))
    guard let content = try content(), trusted == text(for: content) else { return nil }
    return content
  }

  /// Trusts the file as long as it has this content.
  func trust(_ content: [UInt8], in folder: String) throws(VaultError) {
    let record = record(in: folder)
    try Descriptor<VaultError>.makeDirectory(PathName.directory(of: record), isPrivate: true)
    try ConfigurationFolder.checkFolder(of: PathName.directory(of: record))
    try ConfigurationFolder.checkFolder(of: record)
    try DurableText.write(text(for: content), to: record, "the file of trust", mode: 0o600)
  }

  /// Ends the trust. Returns whether there was any.
  func distrust(in folder: String) throws(VaultError) -> Bool {
    let record = record(in: folder)
    let directory = PathName.directory(of: record)
    let trusted: Descriptor<VaultError>
    do throws(VaultError) {
      trusted = try Descriptor<VaultError>.open(directory, O_RDONLY | O_DIRECTORY) { .io("\(directory): open", $0) }
    } catch {
      guard error.errno == ENOENT else { throw error }
      return false
    }
    defer { extendLifetime(trusted) }
    guard trusted.remove(PathName.last(of: record)) else {
      guard errno == ENOENT else { throw .io("\(record): remove the file of trust") }
      return false
    }
    try OutputFile.synchronize(directory)
    return true
  }

  private static let longestRecord = 16_384

  /// The path of the file with the user's trust.
  func record(in folder: String) -> String { "\(folder)/trusted/\(Self.hash(Array(path.utf8)))" }

  private func text(for content: [UInt8]) -> [UInt8] { Array("\(Self.hash(content))\n\(path)\n".utf8) }

  /// BLAKE2b, with 32 bytes: two contents with one hash are not found.
  private static func hash(_ bytes: [UInt8]) -> String {
    let hash = checksum(bytes.span.bytes)
    return (0..<32).map { hash[$0] }.hexadecimal
  }
}
