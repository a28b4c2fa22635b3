import Foundation
import VaultCore
import VaultSealing

/// A vault whose groups are logged, over three epochs and three files, by an owner and a holder.
///
/// The vault and its logs stay in the directory. `logged` has its file, its key and the group, and `<vault>.headers` the
/// headers that the current file of the group's log had.
struct LoggedVault {
  static let file = "logged.spv"

  private let path: String
  private let vault: Vault
  private let held: Vault
  private let group: AccessGroup

  init(in directory: String, owner: SealingKey, holder: SealingKey) throws {
    path = directory + "/" + Self.file
    vault = try Vault.create(
      at: path, slots: [NewSlot(.key(owner), label: "owner")], groups: [NewGroup("default"), NewGroup("ci")])
    group = try vault.group(named: "ci")
    try vault.addSlot(NewSlot(.key(holder), label: "holder"), granting: group)
    held = try Vault.open(at: path, credential: .key(holder))
  }

  func write() throws {
    try vault.setAuditing(.failClosed)
    try use(vault, "owner")
    try use(held, "holder")
    try vault.rotate(group)
    try use(held, "after a rotation")
    try vault.handOverAuditLog(of: group)
    try use(vault, "second file")
    try vault.rotateVault()
    try vault.handOverAuditLog(of: group)
    for number in 1...4 { try use(vault, "third file \(number)") }
    _ = try vault.readAuditLog(of: group)
  }

  /// A write, a read and a removal, and the header of the log behind each.
  private func use(_ vault: Vault, _ key: String) throws {
    let service = try Vault.Name("logged")
    try vault.transaction(service: service, in: group) { batch throws(VaultError) in
      let value = Array("value".utf8)
      try batch.set(value.span.bytes, kind: .string, forKey: key)
    }
    try keepHeader()
    for info in try vault.records(in: group) { _ = try vault.withValue(of: info, in: group) { _, _ in } }
    try keepHeader()
    guard key.count.isMultiple(of: 2) else { return }
    try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.remove(key) }
    try keepHeader()
  }

  private func keepHeader() throws {
    let log = try Data(contentsOf: URL(filePath: "\(path).audit-\(group.id)"))
    let headers = URL(filePath: path + ".headers")
    let before = FileManager.default.fileExists(atPath: headers.path) ? try Data(contentsOf: headers) : Data()
    try (before + log.prefix(256)).write(to: headers)
  }
}
