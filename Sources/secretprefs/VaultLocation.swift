internal import Glibc
internal import Secrets
internal import VaultCore

/// Which file the vault is.
struct VaultLocation {
  let path: String

  /// A file that an argument names.
  init(argument path: String) { self.path = path }

  /// The option, else what the library takes for the default.
  init(option: String?) throws(ToolError) {
    if let option {
      guard !option.isEmpty else { throw .usage("--vault is empty") }
      path = option
    } else {
      do throws(VaultError) { path = try Vault.defaultPath() } catch {
        throw .usage(error.message, hint: "name the vault with --vault")
      }
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

  /// An environment variable of the tool's own; nil when it is not set. One that is set and empty is a mistake, and
  /// what it should have said must not be passed over.
  static func variable(_ name: String) throws(ToolError) -> String? {
    guard let bytes = getenv(name) else { return nil }
    guard bytes.pointee != 0 else {
      throw .usage("the variable \(name) is empty", hint: "unset it, or give it a value")
    }
    guard let text = String(validatingCString: bytes) else { throw .usage("\(name) is not valid UTF-8") }
    return text
  }
}
