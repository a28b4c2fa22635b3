internal import DurableFiles
internal import Secrets
internal import VaultCore

/// The path of a vault.
struct VaultLocation {
  /// The first bytes of a vault.
  static let signature: [UInt8] = [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]

  let path: String
  /// The option that names this path to another command, after a blank. Empty for the path that is used without one.
  let option: String

  /// The path in an argument, unchecked.
  init(argument path: String) {
    self.path = path
    option = Self.option(path)
  }

  private static func option(_ path: String) -> String { " --vault \(shellPath(path))" }

  /// The path in `--vault`, or the library's default path.
  init(option: String?) throws(ToolError) {
    if let option {
      guard !option.isEmpty else { throw .usage("--vault is empty") }
      path = option
      self.option = Self.option(option)
    } else {
      self.option = ""
      do throws(VaultError) { path = try Vault.defaultPath() } catch {
        throw .usage(error.message, hint: "name the vault with --vault")
      }
    }
  }

  /// Whether a file that starts with these bytes is a vault, damaged or not.
  static func isVault(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: signature.prefix(4)) }

  /// Whether anything exists at the path.
  /// - Throws: ``VaultError/Code/io`` if the system does not allow the check.
  var isOccupied: Bool {
    get throws(VaultError) {
      var status = stat()
      if lstat(path, &status) == 0 { return true }
      guard errno == ENOENT || errno == ENOTDIR else {
        throw .io("\(path): examine the path")
      }
      return false
    }
  }

  /// A command that moves the file to a name that is free.
  var movingAway: String {
    var target = path + ".damaged"
    var number = 2
    while FilePlace(target).status(followingLinks: false) != nil {
      target = "\(path).damaged-\(number)"
      number += 1
    }
    return "mv \(shellPath(path)) \(shellPath(target))"
  }

  /// Fails early, before the user types a passphrase twice. Creating the file would also fail.
  ///
  /// - Parameter place: The name of the file in the error message.
  func refuseIfOccupied(_ place: StaticString) throws(VaultError) {
    guard try !isOccupied else {
      throw VaultError(.alreadyExists, "\(path): \(place) cannot be created: the path already exists")
    }
  }

  /// Returns the value of an environment variable, or `nil` if it is not set. An empty variable is an error, because it
  /// is probably a failed expansion and a default must not take its place.
  static func variable(_ name: String) throws(ToolError) -> String? {
    let text: String?
    do throws(VaultError) { text = try Environment.text(name) } catch { throw .usage(error.message) }
    guard text != "" else { throw .usage("the variable \(name) is empty", hint: "unset it, or give it a value") }
    return text
  }
}
