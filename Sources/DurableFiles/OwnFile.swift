/// The kinds of files that this package recognizes as its own by their first bytes or their names.
///
/// ``WholeFile`` writes no file over one of them, and none under a name that belongs to one, unless its caller says
/// that this is the file to write.
package enum OwnFile: Sendable, CaseIterable {
  case vault, mark, key, identity, auditLog
  /// The bytes of a broken journal entry beside a vault.
  case tornEntry

  /// The first bytes; `nil` for a kind that only its name shows.
  package var magic: [UInt8]? {
    switch self {
    case .vault: [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]
    case .mark: Array("spv-mark-1\n".utf8)
    case .key: Array("spv-key-1:".utf8)
    case .identity: Array("spv-identity-1:".utf8)
    case .auditLog: [0x89, 0x53, 0x50, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
    case .tornEntry: nil
    }
  }

  private var name: String {
    switch self {
    case .vault: "a vault"
    case .mark: "a rollback mark"
    case .key: "a key file"
    case .identity: "an identity file"
    case .auditLog: "an audit log"
    case .tornEntry: "a broken journal entry"
    }
  }

  /// The kind of the regular file at `path`, by its first bytes; `nil` for other files and for one that cannot be read.
  package static func at(_ path: String) -> OwnFile? {
    var status = stat()
    // Opening other kinds of files may block or have an effect.
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let file = retrying { unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: 16)
    let count = unsafe start.withUnsafeMutableBytes { start in
      retrying { unsafe pread(file, start.baseAddress!, start.count, 0) }
    }
    return allCases.first { kind in kind.magic.map { start.prefix(max(count, 0)).starts(with: $0) } ?? false }
  }

  /// Why no file may be written at `path`: a clause without a subject; `nil` if one may.
  ///
  /// - Parameter kind: what is to be written there; `nil` for a file that is not the package's own.
  package static func objection(to path: String, writing kind: OwnFile? = nil) -> String? {
    if TemporaryName.isForm(of: PathName.last(of: path)) { return "has a name that is reserved for temporary files" }
    if let owner = owner(of: path), kind != .tornEntry, kind != .auditLog {
      return "has a name that belongs to \(owner.name) beside it"
    }
    guard let old = at(path), old != kind else { return nil }
    return "is \(old.name), which this must not replace"
  }

  /// The vault or mark beside `path` to which this name belongs.
  private static func owner(of path: String) -> OwnFile? {
    let name = PathName.last(of: path)
    for length in Suffix.starts(in: name) {
      let owner = PathName.directory(of: path) + "/" + String(decoding: name.utf8.prefix(length), as: UTF8.self)
      if let kind = at(owner), kind == .vault || kind == .mark { return kind }
    }
    return nil
  }

  /// Whether a name is that of a file beside the vault or mark with the name `owner`.
  package static func isName(_ name: String, besides owner: String) -> Bool {
    name.utf8.starts(with: owner.utf8) && Suffix.starts(in: name).contains(owner.utf8.count)
  }

  /// The ends of names that belong to the file whose name is in front of them.
  private enum Suffix {
    /// The lengths of the names in front of such an end.
    static func starts(in name: String) -> [Int] {
      let bytes = Array(name.utf8)
      return bytes.indices.dropFirst().filter { isSuffix(bytes[$0...]) }
    }

    private static func isSuffix(_ end: ArraySlice<UInt8>) -> Bool {
      // The first is reserved: `Docs/Format.md` section 9.3.
      if [".tmp", ".torn", ".requests"].contains(where: { end.elementsEqual($0.utf8) }) { return true }
      let torn = ".torn.".utf8
      if end.starts(with: torn) { return end.dropFirst(torn.count).allSatisfy { (0x30...0x39).contains($0) } }
      return [".audit-", ".delivered-"].contains { end.starts(with: $0.utf8) }
    }
  }
}
