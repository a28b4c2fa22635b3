internal import Glibc
internal import VaultCore

/// Copies of a vault in a directory, named after it and the time they were made: `shop-20270131T120000Z.spv`.
struct DatedCopies {
  /// Ends in a slash.
  private let directory: String
  private let stem: String

  /// Nil when `path` is that of a file: no directory is there, and it does not end in a slash.
  init?(in path: String, of vault: String) {
    let endsInSlash = path.utf8.last == UInt8(ascii: "/")
    var status = stat()
    guard endsInSlash || (stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR) else { return nil }
    directory = endsInSlash ? path : path + "/"
    let name = vault.utf8.lastIndex(of: UInt8(ascii: "/")).map { vault[vault.utf8.index(after: $0)...] } ?? vault[...]
    stem = String(name.hasSuffix(".spv") ? name.dropLast(4) : name)
  }

  /// Copies the vault to a file that is named after the current second.
  /// - Returns: its path.
  func add(_ vault: Vault, _ options: Vault.Options) throws(VaultError) -> String {
    let start = ContinuousClock.now
    while true {
      let time = Timestamp.text(of: options.now()).prefix(19).filter { $0 != "-" && $0 != ":" }
      let path = "\(directory)\(stem)-\(time)Z.spv"
      do throws(VaultError) {
        try vault.backUp(to: path)
        return path
      } catch {
        // This second has its copy. Another name for the same time would not say which of them is older.
        guard error.code == .alreadyExists, ContinuousClock.now - start < options.lockTimeout else { throw error }
        usleep(50_000)
      }
    }
  }

  /// Reads the new copy back, verifies it, and then removes the oldest other ones.
  ///
  /// Only regular files go that are named as ``add(_:_:)`` names them, and that are older, and whose structure is
  /// whole and of the same vault.
  /// - Parameter count: how many copies are left, with `copy`.
  /// - Returns: the paths of what was removed.
  func removeOldest(
    keeping count: Int, besides copy: String, _ credential: Vault.Credential, _ access: VaultAccess,
    _ messages: Messages
  ) throws -> [String] {
    var options = access.options
    // The mark is of the vault.
    options.markPath = nil
    let vaultID = try Vault.open(at: copy, credential: credential, options: options).verify().status.vaultID
    let others = try names().filter(isDated).sorted(by: >).map { directory + $0 }
      .filter { $0 != copy && isCopy($0, of: vaultID, options, messages) }
    var removed: [String] = []
    // Not what is newer: of two programs that do this at once, each would remove the copy of the other.
    for path in others.dropFirst(count - 1) where path < copy {
      guard unlink(path) == 0 else {
        let number = errno
        for path in removed { messages.warn("\(displayed(path)) was removed") }
        throw ToolError.io("the new copy is made; remove \(path)", number)
      }
      removed.append(path)
    }
    return removed
  }

  private func names() throws(ToolError) -> [String] {
    guard let stream = opendir(directory) else { throw .io("the new copy is made; look for older ones", errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(validatingCString: $0.assumingMemoryBound(to: CChar.self).baseAddress!)
      }
      if let name { names.append(name) }
    }
    return names
  }

  private func isDated(_ name: String) -> Bool {
    let (start, end) = ("\(stem)-".utf8, ".spv".utf8)
    let time = name.utf8.dropFirst(start.count).dropLast(end.count)
    return name.utf8.starts(with: start) && name.utf8.suffix(end.count).elementsEqual(end) && time.count == 16
      && zip(time, "00000000T000000Z".utf8).allSatisfy { byte, form in
        form == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == form
      }
  }

  private func isCopy(
    _ path: String, of vaultID: Vault.Identifier, _ options: Vault.Options, _ messages: Messages
  ) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    do throws(VaultError) { return try VaultSummary(at: path, options: options).vaultID == vaultID } catch {
      messages.warn("\(error.message(about: path)); it stays")
      return false
    }
  }
}
