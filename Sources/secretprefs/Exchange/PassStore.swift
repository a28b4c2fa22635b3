internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The decrypted entries of the password store of pass: a tree of files, each encrypted for GnuPG. As in pass, symbolic
/// links are followed.
struct PassStore {
  /// An entry, and where its text is in the buffer.
  struct PassEntry {
    let name: String
    let text: Range<Int>
  }

  private(set) var entries: [PassEntry]
  /// The entries that cannot be read or decrypted.
  private(set) var faults: [PlainFault] = []
  /// Files that are no entries.
  private(set) var others: [String] = []

  init(_ entries: [PassEntry] = []) { self.entries = entries }

  /// Decrypts all entries with gpg, which asks for a passphrase by its own means.
  static func read(_ root: String) throws -> PlainInput {
    let buffer = try GuardedBuffer()
    var store = PassStore()
    let start = root.hasSuffix("/") ? root : root + "/"
    func name(_ path: String) -> String { String(Substring(path.utf8.dropFirst(start.utf8.count))) }
    try FileTree.visit(root, followsLinks: true) { _, path in
      let path = FileTree.text(of: path)
      let name = name(path)
      // pass keeps git's folder and its own settings in hidden files.
      guard !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else { return }
      guard name.hasSuffix(suffix) else { return store.others.append(name) }
      let entry = String(name.dropLast(suffix.count))
      guard let text = try decrypted(path, into: buffer) else {
        return store.faults.append(PlainFault(line: 0, name: entry, reason: "gpg cannot decrypt the entry"))
      }
      store.entries.append(PassEntry(name: entry, text: text))
    } failed: { path, number in
      let name = name(FileTree.text(of: path))
      store.faults.append(
        PlainFault(
          line: 0, name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name,
          reason: "it cannot be read: \(systemText(number))"))
    }
    var bytes = try SecretBytes(count: buffer.count)
    buffer.withUnsafeBytes { text in bytes.withUnsafeMutableBytes { $0.copyMemory(from: text) } }
    return PlainInput(bytes: bytes, store: store, isOnDisk: false)
  }

  private static let suffix = ".gpg"

  /// The text of an entry; `nil` if gpg fails, which says why on standard error.
  private static func decrypted(_ path: String, into buffer: GuardedBuffer) throws -> Range<Int>? {
    let first = buffer.count
    let gpg = try OtherProgram("gpg", ["gpg", "--quiet", "--decrypt", "--", path])
    let text = try PlainInput.whole(gpg.output, atMost: PlainInput.longest - first, "\(path): decrypt the entry")
    guard try gpg.succeeds() else { return nil }
    try text.withUnsafeBytes { try buffer.append($0) }
    return first..<buffer.count
  }
}
