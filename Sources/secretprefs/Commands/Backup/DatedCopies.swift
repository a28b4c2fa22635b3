internal import DurableFiles
internal import VaultCore

/// Copies of a vault in a directory, named after the vault and the time of the copy: `shop-20270131T120000Z.spv`.
struct DatedCopies {
  /// What became of the older copies.
  struct Older {
    var removed: [String] = []
    /// Those that have changes which the new copy does not have.
    var unmatched: [String] = []
  }

  /// The path of the directory, with a trailing slash.
  private let directory: String
  private let stem: String

  /// `nil` if `path` is neither an existing directory nor ends with a slash.
  init?(in path: String, of vault: VaultLocation) {
    let endsInSlash = path.utf8.last == UInt8(ascii: "/")
    var status = stat()
    guard endsInSlash || (stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR) else { return nil }
    directory = endsInSlash ? path : path + "/"
    // Of a vault in a database, what follows the last slash and # is its name, in which both are encoded.
    let end = vault.path == nil ? UInt8(ascii: "#") : UInt8(ascii: "/")
    let path = vault.name
    let name = path.utf8.lastIndex(of: end).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    stem = String(name.hasSuffix(".spv") ? name.dropLast(4) : name)
  }

  /// A time in milliseconds since 1970-01-01 UTC, as names of files have it: `20270131T120000Z`.
  static func text(of time: Int64) -> String {
    Timestamp.text(of: time).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }

  /// Copies the vault to a file named after the current second.
  /// - Returns: The path of the copy.
  func add(_ vault: Vault, _ options: Vault.Options) throws(VaultError) -> String {
    let start = ContinuousClock.now
    while true {
      let path = "\(directory)\(stem)-\(Self.text(of: options.now())).spv"
      do throws(VaultError) {
        try vault.backUp(to: path)
        return path
      } catch {
        // Waits for the next second, because two copies of the same second could not be ordered by name.
        guard error.code == .alreadyExists, ContinuousClock.now - start < options.lockTimeout else { throw error }
        usleep(50_000)
      }
    }
  }

  /// Verifies the new copy from the disk, and then removes the oldest other copies.
  ///
  /// Removes only regular files with a name as in ``add(_:_:)`` that are older than `copy` and are undamaged copies of
  /// the same vault, and none with a state that the one of `copy` does not follow: after the vault was exchanged for an
  /// older one, they are the only ones that have the rest.
  /// - Parameter count: The number of copies to keep, including `copy`.
  func removeOldest(
    keeping count: Int, besides copy: String, _ credential: Vault.Credential, _ access: VaultAccess,
    _ messages: Messages
  ) throws(VaultError) -> Older {
    var options = access.options
    // The mark belongs to the vault, not to its copies.
    options.markPath = nil
    let made = try Vault.open(at: copy, credential: credential, options: options)
    let status = try made.verify().status
    let others = try names().filter(isDated).sorted(by: >).map { directory + $0 }
      .filter { $0 != copy && isCopy($0, of: status.vaultID, options, messages) }
    var older = Older()
    // Never a newer copy: two processes that do this at the same time would remove each other's new copy.
    for path in others.dropFirst(count - 1) where path < copy {
      guard
        let precedes = isEarlier(
          path, than: made, at: status.generation, openedBy: credential, options, messages)
      else { continue }
      guard precedes else {
        older.unmatched.append(path)
        continue
      }
      guard unlink(path) == 0 else {
        let number = errno
        for path in older.removed { messages.warn("\(displayed(path)) was removed") }
        throw .io("\(path): remove an old copy", number)
      }
      older.removed.append(path)
    }
    if !older.removed.isEmpty { try OutputFile.synchronize(directory) }
    return older
  }

  /// Whether the state of an older copy is one that the vault had before `made`, as far as their counters and tags say.
  ///
  /// A copy from before the last full write of an owner may open with credentials of its time alone. Then it counts as
  /// earlier.
  /// - Parameter generation: The number of full writes by owners in `made`.
  /// - Returns: `nil` if the copy does not open, with a warning.
  private func isEarlier(
    _ path: String, than made: Vault, at generation: UInt64, openedBy credential: Vault.Credential,
    _ options: Vault.Options, _ messages: Messages
  ) -> Bool? {
    do throws(VaultError) {
      let found = try VaultInfo(at: path, options: options).generation
      guard found <= generation else { return false }
      let other: Vault
      do throws(VaultError) { other = try Vault.open(at: path, credential: credential, options: options) } catch {
        guard found < generation, [.credentialRejected, .staleCredential].contains(error.code) else { throw error }
        return true
      }
      return try MarkComparison(try other.currentMark(), made).refusalOfVault == nil
    } catch {
      messages.warn("\(error.message(about: path)); the file is kept")
      return nil
    }
  }

  private func names() throws(VaultError) -> [String] {
    guard let names = PathName.names(in: directory) else {
      throw .io("\(directory): list the directory", errno)
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
    do throws(VaultError) { return try VaultInfo(at: path, options: options).vaultID == vaultID } catch {
      messages.warn("\(error.message(about: path)); the file is kept")
      return false
    }
  }
}
