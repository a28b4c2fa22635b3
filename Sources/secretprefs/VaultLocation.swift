internal import Glibc
internal import VaultCore

/// Which file the vault is.
struct VaultLocation {
  let path: String

  /// A file that an argument names.
  init(argument path: String) { self.path = path }

  /// The option, else `SECRETPREFS_VAULT`, else `secretprefs/default.spv` in the XDG data directory.
  init(option: String?) throws(ToolError) {
    if let option {
      guard !option.isEmpty else { throw .usage("--vault is empty") }
      path = option
    } else if let path = try Self.variable("SECRETPREFS_VAULT") {
      self.path = path
    } else {
      path = try Self.dataDirectory() + "/secretprefs/default.spv"
    }
  }

  /// Whether anything is at the path.
  /// - Throws: ``VaultError/Code/io`` when nobody can tell.
  var isOccupied: Bool {
    get throws(VaultError) {
      var status = stat()
      if lstat(path, &status) == 0 { return true }
      guard errno == ENOENT || errno == ENOTDIR else {
        throw VaultError(.io, "\(path): look at the path: \(String(cString: strerror(errno)))", errno: errno)
      }
      return false
    }
  }

  /// Asks before anybody has typed a passphrase twice; what creates a file there refuses, too.
  ///
  /// - Parameter place: whose path it is.
  func refuseIfOccupied(_ place: StaticString) throws(VaultError) {
    guard try !isOccupied else {
      throw VaultError(.alreadyExists, "\(path): something is at \(place)'s path already")
    }
  }

  private static func dataDirectory() throws(ToolError) -> String {
    // The XDG rules: a relative path is invalid and ignored.
    if let data = try variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
    if let home = try variable("HOME"), home.hasPrefix("/") { return home + "/.local/share" }
    throw .usage("there is no home directory to look for a vault in", hint: "name the vault with --vault")
  }

  /// An environment variable; nil when it is not set or empty.
  static func variable(_ name: String) throws(ToolError) -> String? {
    guard let bytes = getenv(name), bytes.pointee != 0 else { return nil }
    guard let text = String(validatingCString: bytes) else { throw .usage("\(name) is not valid UTF-8") }
    return text
  }
}
