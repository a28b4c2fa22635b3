internal import DurableFiles
internal import Secrets
internal import VaultCore

/// Removes excess access for group and others from the vault, its key files, its mark, and the directories of the vault
/// and the mark. Changes only files that belong to the user and have the expected contents.
struct PermissionRepair {
  /// Descriptions of the changes.
  private(set) var done: [String] = []
  /// Why the repair ended before all files were examined.
  private(set) var failure: (any Error)?

  init(_ access: VaultAccess) {
    do { try examine(access) } catch { failure = error }
  }

  /// The repair of the modes of a mark and its directory; `nil` if it is a different one.
  static func repair(ofMarkOf access: VaultAccess) -> String? {
    guard let mark = access.markPath.map(ExaminedPath.init), isMark(mark) else { return nil }
    if access.pathPolicy == .sharedWithGroup, mark.directory.status().map(isOpen) ?? false {
      return "keep the mark in a directory to which only its owner can write"
    }
    let places = [mark, mark.directory].compactMap { $0.status() }
    return places.allSatisfy { !isOpen($0) || $0.st_uid == geteuid() } ? Repair.permissions.command : nil
  }

  /// Whether group or others may replace a mark, or a file in a directory.
  private static func isOpen(_ status: stat) -> Bool {
    status.st_mode & S_ISVTX == 0 && status.st_mode & writing != 0
  }

  private static let writing: mode_t = 0o022

  private static func isMark(_ file: ExaminedPath) -> Bool {
    file.start(RollbackMark.start.count) == RollbackMark.start
  }

  private mutating func examine(_ access: VaultAccess) throws {
    if let vault = access.location.path.map(ExaminedPath.init) {
      let isShared = access.pathPolicy == .sharedWithGroup
      let (rights, writing): (mode_t, mode_t) = isShared ? (0o007, 0o002) : (0o077, 0o022)
      try take(
        rights, if: rights, from: vault, "the vault", beginningWith: VaultLocation.signature, O_NOFOLLOW,
        isAlwaysRead: true)
      try take(writing, if: writing, from: vault.directory, "the vault's directory", beginningWith: [], O_DIRECTORY)
    }
    for (kind, path) in try access.keyFiles where !MountedSecret.isAt(path) {
      let (start, other) = UnsafeFile.expected(kind)
      try take(0o077, if: 0o026, from: ExaminedPath(path), kind.rawValue, beginningWith: start, otherwise: other)
    }
    if let mark = access.markPath {
      try examine(mark: ExaminedPath(mark), isShared: access.pathPolicy == .sharedWithGroup)
    }
  }

  /// A mark may be read by others, and be in a directory with the sticky bit. The directory of a shared vault stays
  /// open to its group.
  private mutating func examine(mark: ExaminedPath, isShared: Bool) throws {
    let writing = Self.writing
    if let status = mark.status(), status.st_mode & writing != 0 {
      try take(
        writing, if: writing, from: mark, "the mark", beginningWith: RollbackMark.start, otherwise: Hints.otherMark)
    }
    let directory = mark.directory
    guard !isShared, Self.isMark(mark), let status = directory.status(), status.st_mode & S_ISVTX == 0 else { return }
    try take(writing, if: writing, from: directory, "the mark's directory", beginningWith: [], O_DIRECTORY)
  }

  /// - Parameters:
  ///   - rights: The mode bits to remove.
  ///   - excess: The mode bits that make a repair necessary. Group access to a key is allowed, for service managers.
  ///   - isAlwaysRead: Whether to check the first bytes even if the mode is correct, because the caller continues with
  ///     files next to this one.
  ///   - other: What to do about a file that begins with other bytes.
  private mutating func take(
    _ rights: mode_t, if excess: mode_t, from place: ExaminedPath, _ what: String, beginningWith start: [UInt8],
    _ flags: Int32 = 0, isAlwaysRead: Bool = false, otherwise other: String = Hints.otherVault
  ) throws {
    let file = try Descriptor<VaultError>.open(
      place.path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags, named: "\(place.path): \(what)"
    ) { number in
      number == ELOOP
        ? Self.refused("\(place.path): \(what) is a symbolic link", errno: number)
        : .io("\(place.path): open \(what)", number)
    }
    defer { extendLifetime(file) }
    let status = try file.status()
    let isWide = status.st_mode & excess != 0
    guard isWide || isAlwaysRead else { return }
    if !start.isEmpty {
      var bytes = [UInt8](repeating: 0, count: start.count)
      guard pread(file.raw, &bytes, bytes.count, 0) == bytes.count, bytes == start else {
        throw Self.refused(
          "\(place.path): \(what) does not have the expected contents and was not changed", hint: other)
      }
    }
    guard isWide else { return }
    guard status.st_uid == geteuid() else {
      throw Self.refused(
        "\(place.path): \(what) belongs to user \(status.st_uid), not to user \(geteuid())", errno: EPERM)
    }
    guard status.st_mode & S_ISVTX == 0 else {
      throw Self.refused("\(place.path): \(what) is a shared directory: its mode is \(octal(status.st_mode))")
    }
    let mode = status.st_mode & 0o7777 & ~rights
    guard fchmod(file.raw, mode) == 0 else { throw ToolError.io("\(place.path): set the mode of \(what)", errno) }
    done.append("changed the mode of \(what) from \(octal(status.st_mode)) to \(octal(mode))")
  }

  private static func refused(_ why: String, errno: Int32? = nil, hint: String? = nil) -> VaultError {
    VaultError(.insecurePermissions, why, errno: errno, cause: hint.map(Cure.init))
  }
}
