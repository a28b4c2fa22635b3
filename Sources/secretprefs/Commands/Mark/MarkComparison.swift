internal import VaultCore
internal import VaultSealing

/// The comparison of a vault with its mark, line by line.
struct MarkComparison {
  /// How the state of the vault relates to one line of the mark.
  enum State: String {
    case equal
    case ahead
    case behind
    /// The same age with different contents: two copies were written to.
    case differs
    /// The mark does not have this line yet.
    case unmarked
    /// The vault does not have this group, or the credential does not open it.
    case unseen
  }

  struct Line {
    /// The name of the access group, or its id if only the mark contains it. `nil` for the owners' writes.
    let group: String?
    /// Whether the line is that of the group's log.
    var isLog = false
    let vault: Point?
    let mark: Point?

    var state: State {
      guard let vault else { return .unseen }
      guard let mark else { return .unmarked }
      if vault.age == mark.age { return vault.tag == mark.tag ? .equal : .differs }
      return vault.age < mark.age ? .behind : .ahead
    }
  }

  /// A recorded state.
  struct Point {
    /// `nil` for the owners' writes and for logs.
    let epoch: UInt32?
    /// For a log the number of its last event.
    let generation: UInt64
    let tag: Vault.Tag

    fileprivate var age: (UInt32, UInt64) { (epoch ?? 0, generation) }

    fileprivate init(_ owner: RollbackMark.OwnerWrite) {
      epoch = nil
      generation = owner.generation
      tag = owner.tag
    }

    fileprivate init(_ group: RollbackMark.Group) {
      epoch = group.epoch
      generation = group.generation
      tag = group.tag
    }

    fileprivate init(_ log: RollbackMark.Log) {
      epoch = nil
      generation = log.count
      tag = log.tag
    }
  }

  let vaultID: Vault.Identifier
  /// The line of the owners' writes if the vault or the mark has one, then the vault's groups by name, then groups that
  /// only the mark contains, then the logs of the vault's groups.
  private(set) var lines: [Line]

  /// - Throws: ``VaultError/Code/tampered`` if the mark belongs to a different vault, and the errors of verifying every
  ///   group.
  init(_ mark: RollbackMark, _ vault: Vault) throws(VaultError) {
    let seen = try vault.currentMark()
    guard mark.vaultID == seen.vaultID else {
      throw VaultError(.tampered, "the mark belongs to a different vault")
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
    for group in known.sorted(by: { $0.name < $1.name }) {
      let (log, marked) = (seen.logs[group.id], mark.logs[group.id])
      guard log != nil || marked != nil else { continue }
      lines.append(
        Line(group: group.name.text, isLog: true, vault: log.map(Point.init), mark: marked.map(Point.init)))
    }
  }

  /// The error of opening the vault with the mark.
  var refusal: VaultError? {
    if let refusalOfVault { return refusalOfVault }
    guard lines.contains(where: { $0.isLog && [.behind, .differs, .unseen].contains($0.state) }) else { return nil }
    return VaultError(.rolledBack, "a log is older than the mark, or was removed")
  }

  /// The error of opening the vault with the mark, whatever logs are beside it.
  var refusalOfVault: VaultError? {
    // An older vault may lack the key of its log, whose line then says nothing.
    let states = lines.filter { !$0.isLog }.map(\.state)
    if states.contains(.behind) { return VaultError(.rolledBack, "the vault is older than its mark") }
    guard states.contains(.differs) else { return nil }
    return VaultError(.rolledBack, "the vault is as old as its mark with different contents: two copies were written")
  }

  /// Whether the mark should be raised.
  var isAhead: Bool { lines.contains { $0.state == .ahead || $0.state == .unmarked } }
}
