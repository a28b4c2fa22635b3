internal import Glibc

/// Which owners, modes and links a vault's path may have (`Docs/Format.md` 9.1).
public enum PathPolicy: Sendable, Hashable {
  /// No symbolic link, file and directory ours, nothing for group and others.
  case strict
  /// For shared vaults and orchestrated mounts: links are followed once, group bits and reading by others allowed;
  /// what others may write is still refused.
  case relaxed
}

/// Where a vault is, and the checks its path must pass each time it is opened.
struct VaultPath: Sendable {
  /// What is opened; after `realpath` with the relaxed policy.
  let file: String
  let policy: PathPolicy
  // NUL-terminated, so that asking for the file's identity allocates nothing.
  private let cString: [CChar]

  init(_ path: String, policy: PathPolicy) {
    var path = path
    if policy == .relaxed, let resolved = realpath(path, nil) {
      path = String(cString: resolved)
      free(resolved)
    }
    // A program that changes its working directory goes on with the vault that it opened.
    if !path.isEmpty, !path.utf8.starts(with: "/".utf8), let here = getcwd(nil, 0) {
      if let directory = String(validatingCString: here) { path = directory + "/" + path }
      free(here)
    }
    file = path
    self.policy = policy
    cString = Array(path.utf8CString)
  }

  var temporary: String { file + ".tmp" }

  var directory: String {
    guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// Opens the vault and judges what was opened, in the order of section 4, step 1.
  func open(limits: Vault.Limits) throws(VaultError) -> (descriptor: Descriptor, status: stat) {
    let descriptor = try Descriptor.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { refusal("open", $0) }
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.notAVault, "the path does not name a regular file")
    }
    try judge(status)
    try judgeDirectory()
    guard status.st_size <= limits.fileBytes else {
      throw VaultError(.limitExceeded, "the file is longer than \(limits.fileBytes) bytes")
    }
    return (descriptor, status)
  }

  /// Opens the vault for writing.
  func openForWriting() throws(VaultError) -> Descriptor {
    try Descriptor.open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK) { error in
      error == EISDIR
        ? VaultError(.notAVault, "the path does not name a regular file") : refusal("open for writing", error)
    }
  }

  private func refusal(_ step: String, _ error: Int32) -> VaultError {
    switch error {
    case ENOENT, ENOTDIR: VaultError(.notFound, "there is no vault at this path")
    // With the relaxed policy links were followed already, so this one leads nowhere.
    case ELOOP where policy == .relaxed: VaultError(.notFound, "there is no vault where the symbolic link points")
    case ELOOP: VaultError(.insecurePermissions, "the path is a symbolic link")
    case ENXIO, ENODEV: VaultError(.notAVault, "the path names a socket or device")
    default: step == "open" ? .io(step, error) : .writing(step, error)
    }
  }

  /// What the path names now, without following a link; `nil` when there is nothing.
  func status() throws(VaultError) -> stat? {
    var status = stat()
    if cString.withUnsafeBufferPointer({ lstat($0.baseAddress!, &status) }) == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else { throw .io("stat") }
    return nil
  }

  /// Makes a rename durable. `false` when the directory cannot be opened.
  func synchronizeDirectory() throws(VaultError) -> Bool {
    let raw = retrying { Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard raw >= 0 else { return false }
    let descriptor = Descriptor(raw)
    try descriptor.synchronize()
    return true
  }

  /// Makes the directory, 0700, if it is missing, and those above it.
  func makeDirectory() throws(VaultError) {
    var missing: [String] = []
    var path = directory
    while access(path, F_OK) != 0 {
      guard errno == ENOENT else { throw .io("look for the directory") }
      missing.append(path)
      path = VaultPath(path, policy: .strict).directory
    }
    for directory in missing.reversed() {
      if mkdir(directory, 0o700) != 0 {
        guard errno == EEXIST else { throw .writing("make the directory") }
        continue
      }
      // mkdir obeys the umask, which may take away even the owner's rights.
      guard chmod(directory, 0o700) == 0 else { throw .writing("make the directory") }
      _ = try VaultPath(directory, policy: .strict).synchronizeDirectory()
    }
  }

  func judgeDirectory() throws(VaultError) {
    var status = stat()
    guard stat(directory, &status) == 0 else {
      throw errno == ENOENT ? VaultError(.notFound, "the directory does not exist") : .io("stat the directory")
    }
    switch policy {
    case .strict:
      guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
        throw VaultError(
          .insecurePermissions, "the directory belongs to somebody else, or group or others may write to it")
      }
    case .relaxed:
      guard status.st_mode & 0o002 == 0 || status.st_mode & S_ISVTX != 0 else {
        throw VaultError(.insecurePermissions, "others may write to the directory")
      }
    }
  }

  private func judge(_ status: stat) throws(VaultError) {
    switch policy {
    case .strict:
      guard status.st_uid == geteuid() || geteuid() == 0 else {
        throw VaultError(.insecurePermissions, "the file belongs to somebody else")
      }
      guard status.st_mode & 0o077 == 0 else {
        throw VaultError(.insecurePermissions, "group or others may use the file: its mode must be 0600")
      }
    case .relaxed:
      guard status.st_mode & 0o002 == 0 else {
        throw VaultError(.insecurePermissions, "others may write to the file")
      }
    }
  }
}
