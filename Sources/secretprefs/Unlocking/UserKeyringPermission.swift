internal import DurableFiles
internal import VaultCore

/// The permission of an administrator to keep keys for all processes of a user: a file of root's that the user may
/// read. What is in it does not count.
///
/// It is a rule for this tool and no barrier: a program of the user can put a key into any of its keyrings.
enum UserKeyringPermission {
  static let path = "/etc/secretprefs/user-keyring"

  static var isGiven: Bool { objection == nil }

  /// Why the permission is not given; `nil` if it is.
  static var objection: ToolError? {
    do throws(VaultError) {
      let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) { number in
        VaultError(.io, "\(path): \(systemText(number))", errno: number)
      }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { throw unsafe(path, "is not a regular file") }
      try check(status, path)
      for directory in ["/etc/secretprefs", "/etc"] {
        guard let status = ExaminedPath(directory).status(followingLinks: false), status.st_mode & S_IFMT == S_IFDIR
        else {
          throw unsafe(directory, "is not a directory")
        }
        try check(status, directory)
      }
      return nil
    } catch {
      let said = VaultError(.io, "this system does not allow to keep keys for a user: \(error.message)")
      let isUnsafe = error.code == .insecurePermissions
      return ToolError(said, hint: isUnsafe ? repair : consent)
    }
  }

  private static func check(_ status: stat, _ path: String) throws(VaultError) {
    guard status.st_uid == 0 else { throw unsafe(path, "belongs to user \(status.st_uid), and must belong to root") }
    guard status.st_mode & 0o022 == 0 else {
      throw unsafe(path, "can be written by group or others: its mode is \(octal(status.st_mode))")
    }
  }

  private static func unsafe(_ path: String, _ reason: String) -> VaultError {
    VaultError(.insecurePermissions, "\(path) \(reason)")
  }

  private static let consent =
    "use --keyring session; root allows it to all users by \"install -D -m 644 /dev/null \(path)\", and to those of a "
    + "group with mode 640"
  private static let repair = "use --keyring session; root allows it by a file and directory that only root can change"
}
