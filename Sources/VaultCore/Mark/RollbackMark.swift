/// How far a vault was seen to have come: what tells an older copy of it from the present one (`Docs/Format.md`
/// annex B).
///
/// Kept in a file outside the vault's trust domain: another user's, another disk's, the configuration management's.
/// Nothing in it is secret. Where an attacker can write it, it is worthless.
public struct RollbackMark: Sendable, Hashable {
  /// The last owner write that was seen.
  public struct OwnerWrite: Sendable, Hashable {
    /// Of the vault.
    public let generation: UInt64
    /// The manifest's.
    public let tag: Vault.Tag
  }

  /// The last state of one access group that was seen.
  public struct Group: Sendable, Hashable {
    /// How often the group's key had been rotated, plus one.
    public let epoch: UInt32
    /// How many writes there had been.
    public let generation: UInt64
    /// The last entry's, or the section's.
    public let tag: Vault.Tag
  }

  /// The vault.
  public let vaultID: Vault.Identifier
  /// Nil when no owner has seen the vault.
  public private(set) var ownerWrite: OwnerWrite?
  /// The groups that could be opened.
  public private(set) var groups: [Vault.Identifier: Group]

  /// The state of a loaded vault. Opens every granted group.
  init(_ state: VaultState) throws(VaultError) {
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

  /// Refuses a state of the vault that is older than this one, or another of the same age.
  /// - Throws: ``VaultError/Code/rolledBack``; ``VaultError/Code/tampered`` when the mark is of another vault.
  public func check(_ seen: RollbackMark) throws(VaultError) {
    try compare(seen) { (scope, expected, found) throws(VaultError) in
      throw VaultError(
        .rolledBack, "\(scope) is at \(found), and was seen at \(expected): an older copy was put back")
    }
  }

  /// The mark after `seen` was found right: of each line the higher. What `seen` cannot tell stays: the groups of other
  /// credentials, and the owner write for a group holder.
  /// - Throws: ``VaultError/Code/rolledBack`` when two copies were written to.
  func raised(to seen: RollbackMark) throws(VaultError) -> RollbackMark {
    var raised = self
    // Another program may have raised a part of it further meanwhile.
    try compare(seen) { _, _, _ throws(VaultError) in }
    if let found = seen.ownerWrite, ownerWrite.map({ $0.generation < found.generation }) ?? true {
      raised.ownerWrite = found
      // An owner sees every group, so the others were removed.
      raised.groups = raised.groups.filter { seen.groups[$0.key] != nil }
    }
    let wasRemoved = { (id: Vault.Identifier) in
      guard let known = ownerWrite, let found = seen.ownerWrite else { return false }
      return found.generation < known.generation && groups[id] == nil
    }
    for (id, found) in seen.groups where !wasRemoved(id) {
      if let known = groups[id], (known.epoch, known.generation) > (found.epoch, found.generation) { continue }
      raised.groups[id] = found
    }
    return raised
  }

  /// The mark of this, whatever stood there: what this cannot tell is taken from `old`, if that is of the same vault.
  func replacing(_ old: RollbackMark) -> RollbackMark {
    guard ownerWrite == nil, old.vaultID == vaultID else { return self }
    var new = old
    new.groups.merge(groups) { $1 }
    return new
  }

  /// Compares line by line.
  /// - Parameter older: is called for each line of `seen` that is behind.
  /// - Throws: ``VaultError/Code/rolledBack`` for lines of the same age that differ.
  private func compare(
    _ seen: RollbackMark, older: (_ scope: String, _ expected: String, _ found: String) throws(VaultError) -> Void
  ) throws(VaultError) {
    guard vaultID == seen.vaultID else {
      throw VaultError(.tampered, "this is not the vault that the mark was made for")
    }
    var lines: [(scope: String, expected: Group, found: Group)] = []
    if let ownerWrite, let found = seen.ownerWrite {
      lines.append(
        (
          "the vault", Group(epoch: 0, generation: ownerWrite.generation, tag: ownerWrite.tag),
          Group(epoch: 0, generation: found.generation, tag: found.tag)
        ))
    }
    // A group that is gone was removed by an owner write, which is compared, too.
    for (id, expected) in groups {
      if let found = seen.groups[id] { lines.append(("an access group", expected, found)) }
    }
    for (scope, expected, found) in lines {
      if (found.epoch, found.generation) < (expected.epoch, expected.generation) {
        try older(scope, expected.text, found.text)
      } else if (found.epoch, found.generation) == (expected.epoch, expected.generation), found.tag != expected.tag {
        throw VaultError(
          .rolledBack, "\(scope) was seen at \(expected.text) with other contents: two copies were written to")
      }
    }
  }
}

extension RollbackMark.Group {
  fileprivate var text: String { epoch == 0 ? "generation \(generation)" : "epoch \(epoch), generation \(generation)" }
}

extension RollbackMark {
  /// The mark as annex B writes it, lines in the order of their ids.
  public var text: String {
    var lines = ["spv-mark-1", "vault \(vaultID)"]
    if let ownerWrite { lines.append("owner \(ownerWrite.generation) \(ownerWrite.tag)") }
    for (id, group) in groups.sorted(by: { $0.key < $1.key }) {
      lines.append("group \(id) \(group.epoch) \(group.generation) \(group.tag)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Reads a mark exactly as ``text`` writes it.
  /// - Throws: ``VaultError/Code/malformed``.
  init(parsing text: [UInt8]) throws(VaultError) {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.split(separator: " ", omittingEmptySubsequences: false) }
    guard lines.count > 2, lines[0] == ["spv-mark-1"], lines[1].count == 2, lines[1][0] == "vault",
      let id = Vault.Identifier(hexadecimal: lines[1][1])
    else { throw Self.malformed }
    (vaultID, ownerWrite, groups) = (id, nil, [:])
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
      default: throw Self.malformed
      }
    }
    // There is one way to write a mark: what is not that, nobody here wrote.
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
    self.init(bytes.span.bytes)
  }
}

extension [UInt8] {
  /// Two lower-case hex digits a byte.
  fileprivate init?(hexadecimal text: Substring) {
    let digits = text.utf8.map { $0 >= UInt8(ascii: "a") ? $0 &- UInt8(ascii: "a") &+ 10 : $0 &- UInt8(ascii: "0") }
    guard digits.count % 2 == 0, digits.allSatisfy({ $0 < 16 }) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
