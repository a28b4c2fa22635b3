internal import DurableFiles

/// Which owners, modes and links a vault's path may have (`Docs/Format.md` 9.1).
public enum PathPolicy: Sendable, Hashable {
  /// For a vault of one user: no symbolic link; the file owned by this user (root may open any user's file), the
  /// directory by this user or root; group and others may neither access the file nor write to the directory.
  case strict
  /// For shared vaults and mounts of an orchestrator: symbolic links are resolved once; access by the group and reading
  /// by others are accepted. A file that others may write is still refused.
  case relaxed
  /// For a vault that the members of a Unix group share: as ``strict``, but file and directory may belong to any member
  /// of their group, which is a group of this process, and the group may read and write both. The file has the group
  /// of its directory. A new file in a directory that its group may write gets mode 0660.
  ///
  /// Each member can delete the file, and replace it with an older copy: see ``RollbackMark``.
  case sharedWithGroup
}

/// The path of a vault, with the checks that each opening makes.
struct VaultPath: Sendable {
  /// The absolute path; with the relaxed policy after `realpath`.
  let file: String
  let policy: PathPolicy
  /// The mode bits that the relaxed policy refuses, for the file and for a directory without the sticky bit.
  private let foreign: mode_t
  // NUL-terminated, so that `stat` needs no allocation.
  private let cString: [CChar]

  /// - Throws: ``VaultError/Code/io`` for a path that contains a NUL byte.
  init(_ path: String, policy: PathPolicy, refusing foreign: mode_t = 0o002) throws(VaultError) {
    try VaultError.refuseNUL(in: path)
    var path = path
    if policy == .relaxed, let resolved = PathName.resolved(path) { path = resolved }
    // Absolute, so that a later change of the working directory does not change which vault is used.
    path = PathName.absolute(path)
    file = path
    self.policy = policy
    self.foreign = foreign
    cString = Array(path.utf8CString)
  }

  /// The path of a file beside this one, with the same policy. A symbolic link there is not resolved.
  func beside(_ suffix: String) -> VaultPath { VaultPath(absolute: file + suffix, policy: policy, foreign: foreign) }

  private init(absolute path: String, policy: PathPolicy, foreign: mode_t) {
    file = path
    self.policy = policy
    self.foreign = foreign
    cString = Array(path.utf8CString)
  }

  /// The end of names that are not used for a vault or mark (`Docs/Format.md` section 9).
  private static let reservedSuffix = ".tmp"

  var directory: String { PathName.directory(of: file) }

  /// Opens the vault and checks the opened file, in the order of section 4, step 1.
  func open(limit: Int) throws(VaultError) -> (descriptor: Descriptor, status: stat) {
    let descriptor = try Descriptor.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { refusal(isWrite: false, $0) }
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT == S_IFREG else { throw notAFile }
    try judge(status)
    try judgeDirectory()
    guard status.st_size <= limit else {
      throw error(.limitExceeded, "the file is longer than \(limit) bytes")
    }
    return (descriptor, status)
  }

  /// Opens the vault for writing.
  func openForWriting() throws(VaultError) -> Descriptor {
    try Descriptor.open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK) { error in
      error == EISDIR ? notAFile : refusal(isWrite: true, error)
    }
  }

  private func refusal(isWrite: Bool, _ number: Int32) -> VaultError {
    switch number {
    case ENOENT, ENOTDIR: error(.notFound, "there is no vault at this path")
    // With the relaxed policy links were already resolved, so this one has no target.
    case ELOOP where policy == .relaxed: error(.notFound, "there is no vault at the target of the symbolic link")
    case ELOOP: error(.insecurePermissions, "the path is a symbolic link", errno: number)
    case ENXIO, ENODEV: error(.notAVault, "the path names a socket or device")
    default: isWrite ? .writing("\(file): open for writing", number) : .io("\(file): open", number)
    }
  }

  private var notAFile: VaultError { error(.notAVault, "the path does not name a regular file") }

  /// An error about the file, with its path.
  func error(_ code: VaultError.Code, _ text: String, errno: Int32? = nil, cause: VaultError? = nil) -> VaultError {
    VaultError(code, "\(file): \(text)", errno: errno, cause: cause ?? ErrorSubject.file)
  }

  /// The status of the file at the path, without following a link; `nil` if there is none.
  func status() throws(VaultError) -> stat? {
    var status = stat()
    if unsafe cString.withUnsafeBufferPointer({ unsafe lstat($0.baseAddress!, &status) }) == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else { throw .io("\(file): stat") }
    return nil
  }

  /// The identity of the file at the path, and whether all names of that file are gone; `nil` if there is no file.
  /// Called for each read, so it does not copy the whole status.
  func identity() throws(VaultError) -> (identity: FileIdentity, isRemoved: Bool)? {
    var status = stat()
    if unsafe cString.withUnsafeBufferPointer({ unsafe lstat($0.baseAddress!, &status) }) == 0 {
      return (FileIdentity(status), status.st_nlink == 0)
    }
    guard errno == ENOENT || errno == ENOTDIR else { throw .io("\(file): stat") }
    return nil
  }

  // MARK: New files

  /// Refuses a path at which no new file may be created: a file exists, the path names a directory, or the name is or
  /// may be that of a file beside another vault or mark.
  func judgeNew() throws(VaultError) {
    let name = file.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard !["", ".", ".."].contains(name) else { throw .io("\(file): make a file", EISDIR) }
    guard !file.hasSuffix(Self.reservedSuffix) else {
      throw error(
        .io, "names that end in \(Self.reservedSuffix) are reserved for temporary files: choose a different one",
        errno: EINVAL)
    }
    // Reported before the file is prepared.
    if let reason = OwnFile.objection(to: file, writing: .vault), try status() == nil {
      throw VaultError(refusing: file, because: reason)
    }
    guard try status() == nil else { throw exists }
  }

  var exists: VaultError { error(.alreadyExists, "a file already exists at this path") }

  /// Checks that a new file may be created, and creates its directory if necessary.
  func prepareNew() throws(VaultError) {
    try judgeNew()
    try Descriptor.makeDirectory(directory, isPrivate: true)
    try judgeDirectory()
  }

  /// Makes a rename durable. Returns `false`, with `errno`, if this user may not read the directory.
  func synchronizeDirectory() throws(VaultError) -> Bool { try Descriptor.synchronizeDirectory(directory) }

  // MARK: Owners and modes

  func judgeDirectory() throws(VaultError) {
    let directory = directory
    let status = try directoryStatus()
    var refused = foreign
    switch policy {
    case .strict:
      refused = 0o022
      try Self.judgeOwner(status, directory)
    case .sharedWithGroup:
      refused = 0o002
      try Self.judgeSharing(status, directory)
    case .relaxed: break
    }
    guard status.st_mode & refused == 0 || (policy == .relaxed && status.st_mode & S_ISVTX != 0) else {
      throw VaultError(
        .insecurePermissions,
        "\(directory): \(who(refused)) may write to the directory: "
          + "its mode is \(octal(status.st_mode)), and \(octal(0o777 & ~refused)) is the widest accepted",
        cause: ErrorSubject.file)
    }
  }

  func directoryStatus() throws(VaultError) -> stat {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else {
      throw errno == ENOENT
        ? VaultError(.notFound, "\(directory): the directory does not exist") : .io("\(directory): stat the directory")
    }
    return status
  }

  private func who(_ refused: mode_t) -> String { refused == 0o002 ? "others" : "group or others" }

  func judge(_ status: stat) throws(VaultError) {
    switch policy {
    case .strict:
      if geteuid() != 0 { try Self.judgeOwner(status, file, orRoot: false) }
      guard status.st_mode & 0o077 == 0 else {
        throw error(
          .insecurePermissions,
          "other users may access the file: its mode is \(octal(status.st_mode)), and 0600 is the widest accepted")
      }
    case .relaxed:
      guard status.st_mode & foreign == 0 else {
        throw error(
          .insecurePermissions,
          "\(who(foreign)) may write to the file: "
            + "its mode is \(octal(status.st_mode)), and \(octal(0o666 & ~foreign)) is the widest accepted")
      }
    case .sharedWithGroup:
      try Self.judgeSharing(status, file)
      guard status.st_mode & 0o007 == 0 else {
        throw error(
          .insecurePermissions,
          "others may access the file: its mode is \(octal(status.st_mode)), and 0660 is the widest accepted")
      }
      let group = try directoryStatus().st_gid
      guard status.st_mode & 0o070 == 0 || status.st_gid == group else {
        throw error(
          .insecurePermissions,
          "group \(status.st_gid) may access the file, and the directory belongs to group \(group)", errno: EPERM)
      }
    }
  }

  /// Only a member gives a file to a group, so one that belongs to a group of this process is a member's or was. (In a
  /// directory with the set-group-id bit that others may write to, others can make one, too: `Docs/Decisions/0090`.)
  private static func judgeSharing(_ status: stat, _ path: String) throws(VaultError) {
    guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 || isOwnGroup(status.st_gid) else {
      throw VaultError(
        .insecurePermissions,
        "\(path): belongs to user \(status.st_uid) and group \(status.st_gid), and user \(geteuid()) is no member of "
          + "it", errno: EPERM, cause: ErrorSubject.file)
    }
  }

  private static func isOwnGroup(_ group: gid_t) -> Bool {
    if group == getegid() { return true }
    var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
    let count = unsafe getgroups(Int32(groups.count), &groups)
    return groups.prefix(max(0, Int(count))).contains(group)
  }

  private static func judgeOwner(_ status: stat, _ path: String, orRoot: Bool = true) throws(VaultError) {
    guard status.st_uid == geteuid() || (orRoot && status.st_uid == 0) else {
      throw VaultError(
        .insecurePermissions,
        "\(path): belongs to user \(status.st_uid), and must belong to user \(geteuid())\(orRoot ? " or root" : "")",
        errno: EPERM, cause: ErrorSubject.file)
    }
  }
}

extension VaultError {
  /// Refuses a path that contains a NUL byte: a C string ends there, so a different file would be used.
  package static func refuseNUL(in path: String) throws(VaultError) {
    guard !path.utf8.contains(0) else { throw .io("\(path): a path cannot contain a NUL byte", EINVAL) }
  }
}
