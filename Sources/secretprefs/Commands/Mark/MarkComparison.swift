internal import VaultCore
internal import VaultSealing

/// A vault beside its mark, line by line.
struct MarkComparison {
  /// How the vault stands to one line of the mark.
  enum State: String {
    case equal
    case ahead
    case behind
    /// As old, with other contents: two copies were written to.
    case differs
    /// The mark has no such line yet.
    case unmarked
    /// The vault has no such group, or the credential does not grant it.
    case unseen
  }

  struct Line {
    /// The access group: its name, or its id when only the mark knows it; nil for the owners' writes.
    let group: String?
    let vault: Point?
    let mark: Point?

    var state: State {
      guard let vault else { return .unseen }
      guard let mark else { return .unmarked }
      if vault.age == mark.age { return vault.tag == mark.tag ? .equal : .differs }
      return vault.age < mark.age ? .behind : .ahead
    }
  }

  /// A state that was seen.
  struct Point {
    /// Nil for the owners' writes.
    let epoch: UInt32?
    let generation: UInt64
    let tag: Vault.Tag

    fileprivate var age: (UInt32, UInt64) { (epoch ?? 0, generation) }

    fileprivate init(_ owner: RollbackMark.OwnerWrite) {
      (epoch, generation, tag) = (nil, owner.generation, owner.tag)
    }

    fileprivate init(_ group: RollbackMark.Group) {
      (epoch, generation, tag) = (group.epoch, group.generation, group.tag)
    }
  }

  let vaultID: Vault.Identifier
  /// The owners' writes first, if anybody has seen them; then the groups that the vault shows, by name.
  private(set) var lines: [Line]

  /// - Throws: ``VaultError/Code/tampered`` when the mark is of another vault; what verifying every group can throw.
  init(_ mark: RollbackMark, _ vault: Vault) throws(VaultError) {
    let seen = try vault.currentMark()
    guard mark.vaultID == seen.vaultID else {
      throw VaultError(.tampered, "the mark was made for another vault")
    }
    vaultID = seen.vaultID
    let known = try vault.status().groups
    lines = []
    if mark.ownerWrite != nil || seen.ownerWrite != nil {
      lines.append(Line(group: nil, vault: seen.ownerWrite.map(Point.init), mark: mark.ownerWrite.map(Point.init)))
    }
    for group in known.sorted(by: { $0.name < $1.name }) {
      lines.append(
        Line(
          group: group.name.text, vault: seen.groups[group.id].map(Point.init),
          mark: mark.groups[group.id].map(Point.init)))
    }
    for (id, point) in mark.groups.sorted(by: { $0.key < $1.key }) where seen.groups[id] == nil {
      lines.append(Line(group: id.description, vault: nil, mark: Point(point)))
    }
  }

  /// Whether the vault would be refused.
  var isBehind: Bool { refusal != nil }

  /// How it would be refused.
  var refusal: VaultError? {
    if lines.contains(where: { $0.state == .behind }) {
      return VaultError(.rolledBack, "the vault is older than its mark")
    }
    guard lines.contains(where: { $0.state == .differs }) else { return nil }
    return VaultError(.rolledBack, "the vault is as old as its mark, with other contents: two copies were written to")
  }

  /// Whether the mark says less than it could.
  var isAhead: Bool { lines.contains { $0.state == .ahead || $0.state == .unmarked } }
}
