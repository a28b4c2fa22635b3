internal import DurableFiles

/// The newest state of a vault that was seen, which detects an older copy in place of the vault (`Docs/Format.md` annex
/// B).
///
/// It is stored in a file outside the vault's trust domain, for example with a different user, on a different disk or
/// in configuration management. Nothing in it is secret. It gives no protection if an attacker can write it.
public struct RollbackMark: Sendable, Hashable {
  /// The last owner write that was seen.
  public struct OwnerWrite: Sendable, Hashable {
    /// The generation of the vault.
    public let generation: UInt64
    /// The tag of the manifest.
    public let tag: Vault.Tag
  }

  /// The last state of one access group that was seen.
  public struct Group: Sendable, Hashable {
    /// The number of rotations of the group's key, plus one.
    public let epoch: UInt32
    /// The number of writes to the group.
    public let generation: UInt64
    /// The tag of the last entry, or of the section if there is none.
    public let tag: Vault.Tag
  }

  /// The last event of an access group's log that was seen (annex F).
  public struct Log: Sendable, Hashable {
    /// The number of the event.
    public let count: UInt64
    /// The tag of the event.
    public let tag: Vault.Tag
  }

  /// The id of the vault.
  public let vaultID: Vault.Identifier
  /// The last owner write; `nil` if no owner has seen the vault.
  public private(set) var ownerWrite: OwnerWrite?
  /// The state of each group that could be opened.
  public private(set) var groups: [Vault.Identifier: Group]
  /// The newest event of the log of each group that has one.
  public private(set) var logs: [Vault.Identifier: Log]

  /// What a read of a record raises.
  init(vaultID: Vault.Identifier, logs: [Vault.Identifier: Log]) {
    self.vaultID = vaultID
    ownerWrite = nil
    groups = [:]
    self.logs = logs
  }

  /// The state of a loaded vault. Opens every granted group.
  init(_ state: VaultState, logs: [Vault.Identifier: Log] = [:]) throws(VaultError) {
    self.logs = logs
    vaultID = state.snapshot.vaultID
    ownerWrite =
      state.unlocked.isOwner
      ? OwnerWrite(generation: state.snapshot.generation, tag: state.snapshot.manifestTag) : nil
    groups = [:]
    for group in state.groups {
      let content = try state.content(group.id)
      groups[group.id] = Group(epoch: content.epoch, generation: content.generation, tag: content.tag)
    }
  }

  /// Refuses a state of the vault that is older than this one, or a different state with the same counters.
  /// - Throws: ``VaultError/Code/rolledBack``; ``VaultError/Code/tampered`` if the mark is of a different vault.
  public func check(_ seen: RollbackMark) throws(VaultError) {
    try compare(seen) { (scope, expected, found) throws(VaultError) in
      throw VaultError(
        .rolledBack, "\(scope) is at \(found), and the mark is at \(expected): this is an older copy")
    }
  }

  /// Returns the mark raised to a checked state `seen`: for each line the higher one. Lines that `seen` does not have
  /// are kept: groups of other credentials, and the owner write for a group holder.
  /// - Throws: ``VaultError/Code/rolledBack`` if two copies of the vault were written to.
  func raised(to seen: RollbackMark) throws(VaultError) -> RollbackMark {
    var raised = self
    // Another program may have raised some lines further meanwhile.
    try compare(seen) { _, _, _ throws(VaultError) in }
    if let found = seen.ownerWrite, ownerWrite.map({ $0.generation < found.generation }) ?? true {
      raised.ownerWrite = found
      // An owner sees every group, so the others were removed.
      raised.groups = raised.groups.filter { seen.groups[$0.key] != nil }
      raised.logs = raised.logs.filter { seen.groups[$0.key] != nil }
    }
    let wasRemoved = { (id: Vault.Identifier) in
      guard let known = ownerWrite, let found = seen.ownerWrite else { return false }
      return found.generation < known.generation && groups[id] == nil
    }
    for (id, found) in seen.groups where !wasRemoved(id) {
      if let known = groups[id], (known.epoch, known.generation) > (found.epoch, found.generation) { continue }
      raised.groups[id] = found
    }
    for (id, found) in seen.logs where raised.groups[id] != nil && found.count > raised.logs[id]?.count ?? 0 {
      raised.logs[id] = found
    }
    return raised
  }

  /// The same mark with these lines of logs.
  func with(_ logs: [Vault.Identifier: Log]) -> RollbackMark {
    var mark = self
    mark.logs = logs
    return mark
  }

  /// Returns the mark that takes the place of `old`. A group holder's mark keeps the lines that only `old` has, if
  /// `old` is of the same vault.
  func replacing(_ old: RollbackMark) -> RollbackMark {
    guard ownerWrite == nil, old.vaultID == vaultID else { return self }
    var new = old
    new.groups.merge(groups) { $1 }
    new.logs = new.logs.filter { groups[$0.key] == nil }
    new.logs.merge(logs) { $1 }
    return new
  }

  /// Compares line by line.
  /// - Parameter older: called for each line of `seen` that is lower.
  /// - Throws: ``VaultError/Code/rolledBack`` for lines with equal counters and different tags.
  private func compare(
    _ seen: RollbackMark, older: (_ scope: String, _ expected: String, _ found: String) throws(VaultError) -> Void
  ) throws(VaultError) {
    guard vaultID == seen.vaultID else {
      throw VaultError(.tampered, "the mark belongs to a different vault")
    }
    var lines: [(scope: String, expected: Group, found: Group)] = []
    if let ownerWrite, let found = seen.ownerWrite {
      lines.append(
        (
          "the vault", Group(epoch: 0, generation: ownerWrite.generation, tag: ownerWrite.tag),
          Group(epoch: 0, generation: found.generation, tag: found.tag)
        ))
    }
    // A missing group was removed by an owner write, which is compared as well.
    for (id, expected) in groups {
      if let found = seen.groups[id] { lines.append(("an access group", expected, found)) }
    }
    for (scope, expected, found) in lines {
      if (found.epoch, found.generation) < (expected.epoch, expected.generation) {
        try older(scope, expected.text, found.text)
      } else if (found.epoch, found.generation) == (expected.epoch, expected.generation), found.tag != expected.tag {
        throw VaultError(
          .rolledBack,
          "\(scope) has different contents at \(expected.text) than the mark: two copies of the vault were written to")
      }
    }
  }
}

extension RollbackMark.Group {
  fileprivate var text: String { epoch == 0 ? "generation \(generation)" : "epoch \(epoch), generation \(generation)" }
}

extension RollbackMark {
  /// The text of the mark (annex B), with lines in the order of their ids.
  public var text: String {
    var lines = ["spv-mark-1", "vault \(vaultID)"]
    if let ownerWrite { lines.append("owner \(ownerWrite.generation) \(ownerWrite.tag)") }
    for (id, group) in groups.sorted(by: { $0.key < $1.key }) {
      lines.append("group \(id) \(group.epoch) \(group.generation) \(group.tag)")
    }
    for (id, log) in logs.sorted(by: { $0.key < $1.key }) { lines.append("log \(id) \(log.count) \(log.tag)") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Parses the text of a mark. Only the exact form of ``text`` is accepted.
  /// - Throws: ``VaultError/Code/malformed``.
  init(parsing text: [UInt8]) throws(VaultError) {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.split(separator: " ", omittingEmptySubsequences: false) }
    guard lines.count > 2, lines[0] == ["spv-mark-1"], lines[1].count == 2, lines[1][0] == "vault",
      let id = Vault.Identifier(hexadecimal: lines[1][1])
    else { throw Self.malformed }
    vaultID = id
    ownerWrite = nil
    groups = [:]
    logs = [:]
    for line in lines[2..<(lines.count - 1)] {
      switch line.first {
      case "owner" where line.count == 3:
        guard let generation = UInt64(line[1]), let tag = Vault.Tag(hexadecimal: line[2]) else { throw Self.malformed }
        ownerWrite = OwnerWrite(generation: generation, tag: tag)
      case "group" where line.count == 5:
        guard let id = Vault.Identifier(hexadecimal: line[1]), let epoch = UInt32(line[2]),
          let generation = UInt64(line[3]), let tag = Vault.Tag(hexadecimal: line[4])
        else { throw Self.malformed }
        groups[id] = Group(epoch: epoch, generation: generation, tag: tag)
      case "log" where line.count == 4:
        guard let id = Vault.Identifier(hexadecimal: line[1]), let count = UInt64(line[2]),
          AuditHeader.numbers.contains(count), let tag = Vault.Tag(hexadecimal: line[3])
        else { throw Self.malformed }
        logs[id] = Log(count: count, tag: tag)
      default: throw Self.malformed
      }
    }
    // A mark has exactly one text. A different text was not written by this library.
    guard self.text.utf8.elementsEqual(text) else { throw Self.malformed }
  }

  private static var malformed: VaultError { .malformed("the mark") }
}

extension Vault.Identifier {
  /// 32 lower-case hex digits.
  init?(hexadecimal text: Substring) {
    guard let bytes = [UInt8](hexadecimal: text), bytes.count == Self.count else { return nil }
    self.init(bytes)
  }
}

extension Vault.Tag {
  /// 64 lower-case hex digits.
  fileprivate init?(hexadecimal text: Substring) {
    guard let bytes = [UInt8](hexadecimal: text), bytes.count == Self.count else { return nil }
    self.init(bytes.bytes)
  }
}
