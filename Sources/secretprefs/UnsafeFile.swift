internal import DurableFiles
internal import VaultCore

/// The vault, its directory, its mark or a key file with a mode that is refused, and what a user can do about it. The
/// mode of a file with other contents is never the problem: it was named by mistake.
struct UnsafeFile {
  let hint: String

  /// `nil` if the error is about something else than a mode.
  init?(_ error: VaultError, _ access: VaultAccess) {
    guard error.code == .insecurePermissions, let subject = error.subject else { return nil }
    let vault = access.location.path.map(ExaminedPath.init)
    let isAboutVault = if case .file = subject { true } else { false }
    if isAboutVault, access.pathPolicy == .strict, vault?.isSharedVault == true {
      hint = Hints.shared
      return
    }
    guard error.errno == nil else { return nil }
    if case .mark = subject {
      guard let mark = access.markPath.map(ExaminedPath.init) else { return nil }
      hint =
        mark.start(RollbackMark.start.count) != RollbackMark.start
        ? Hints.otherMark
        : mark.status().map { $0.st_mode & 0o022 != 0 } ?? false
          ? Hints.narrow(file: mark.path) : Self.hint(for: mark.directory)
      return
    }
    guard isAboutVault, let vault, let status = vault.status() else { return nil }
    let start = vault.start(VaultLocation.signature.count)
    let isOther = status.st_mode & S_IFMT == S_IFREG && start.map { !VaultLocation.isVault($0) } ?? false
    if isOther, let other = UnreadableVault(access.location, VaultError(.notAVault, "")) {
      hint = other.hint()
    } else if access.pathPolicy == .sharedWithGroup {
      hint = Hints.share(status.st_mode & 0o007 != 0 ? vault.path : vault.directory.path)
    } else if status.st_mode & 0o077 != 0 {
      hint = Hints.narrow(file: vault.path)
    } else {
      hint = Self.hint(for: vault.directory)
    }
  }

  /// A shared directory must stay open for its other users.
  private static func hint(for directory: ExaminedPath) -> String {
    guard let status = directory.status(), status.st_mode & S_ISVTX == 0, status.st_uid == geteuid() else {
      return Hints.privateDirectory
    }
    return Hints.narrow(directory: directory.path)
  }

  /// What to do about a key, identity or passphrase file that was refused; `nil` for any other error.
  static func credentialHint(_ error: VaultError) -> String? {
    guard error.code == .insecurePermissions, error.errno == nil, case .credential(let kind, let path) = error.subject
    else { return nil }
    let (start, other) = expected(kind)
    let file = ExaminedPath(path)
    // What is neither a regular file nor a FIFO needs its mode for something else.
    guard let type = file.status().map({ $0.st_mode & S_IFMT }), [S_IFREG, S_IFIFO].contains(type) else { return other }
    guard start.isEmpty || file.start(start.count) == start else { return other }
    return hint(ofUnchangeable: file) ?? Hints.narrow(file: path)
  }

  /// What to do about a key file with a mode that this user cannot change; `nil` for any other.
  static func hint(ofUnchangeable file: ExaminedPath) -> String? {
    if file.isOnReadOnlyFileSystem { return Hints.mountedKeyFile }
    return file.status()?.st_uid == geteuid() ? nil : Hints.foreignKeyFile
  }

  /// The first bytes of a file with a credential, and what to do about a file that is none. A passphrase has any bytes.
  static func expected(_ kind: CredentialFile) -> (start: [UInt8], other: String) {
    switch kind {
    case .key: (keyStart, Hints.otherKeyFile)
    case .deviceKey: (keyStart, Hints.otherDeviceKey)
    case .identity: (Array("spv-identity-1:".utf8), Hints.otherIdentity)
    case .passphrase: ([], Hints.otherPassphraseFile)
    }
  }

  private static let keyStart = Array("spv-key-1:".utf8)
}
