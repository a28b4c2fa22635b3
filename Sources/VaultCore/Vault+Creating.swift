internal import Glibc
internal import VaultSealing

/// An access group that a new vault starts with.
public struct NewGroup: Sendable {
  /// Fills a batch with the records of one service.
  public typealias Fill = @Sendable (inout Vault.Batch) throws(VaultError) -> Void

  let name: String
  // A name that breaks the rule is refused when the vault is made.
  private(set) var services: [(name: Result<Vault.Name, VaultError>, fill: Fill)] = []

  /// An empty group.
  public init(_ name: String = AccessGroup.defaultName) { self.name = name }

  /// A group with records of one service.
  public init(_ name: String = AccessGroup.defaultName, service: String, _ fill: @escaping Fill) {
    self.name = name
    services = [(Result { () throws(VaultError) in try Vault.Name(service) }, fill)]
  }

  /// Adds the records of a service that is not among them yet.
  public mutating func add(service: Vault.Name, _ fill: @escaping Fill) { services.append((.success(service), fill)) }
}

extension Vault {
  /// Creates a vault and opens it. Missing directories are made, 0700; the file is 0600 whatever the umask. With
  /// ``Options/markPath`` its mark is made, too.
  ///
  /// - Parameters:
  ///   - slots: at least one; each makes its credential an owner.
  ///   - groups: the access groups to start with, with unique names.
  /// - Throws: ``VaultError/Code/alreadyExists`` when anything is at the path, or a mark is there;
  ///   ``VaultError/Code/io`` for a name that ends in `.tmp`, which belongs to temporary files;
  ///   ``VaultError/Code/insecurePermissions`` when the directory does not do; else as writing.
  public static func create(
    at path: String, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) throws(VaultError) -> Vault {
    guard !slots.isEmpty else { throw VaultError(.lastOwnerSlot, "a vault needs an owner") }
    let path = try VaultPath(path, policy: options.pathPolicy)
    try path.judgeNew()
    let mark = try MarkKeeper(options)
    try mark?.judgeNew()
    var draft = try VaultDraft(new: options)
    var opened: [Unlocked] = []
    for slot in slots {
      opened.append(
        try draft.add(
          PreparedSlot(slot, vault: draft.vaultID, random: options.random, sealer: draft.sealer)))
    }
    let unlocked = opened[0]
    for group in groups { try group.add(to: &draft) }
    return try make(draft, at: path, opening: unlocked, mark: mark)
  }

  /// Puts a vault in the making where nothing may be yet.
  static func make(
    _ draft: VaultDraft, at path: VaultPath, opening unlocked: Unlocked, mark: MarkKeeper? = nil
  ) throws(VaultError) -> Vault {
    let options = draft.options
    let bytes = try draft.file()
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    // The reader's own code judges the file before it has a name.
    let state = try VaultState(
      FileImage(bytes), file: nil, path: path, options: options, sealer: draft.sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    for group in state.groups { _ = try state.content(group.id) }
    try path.prepareNew()
    let file = try Replacement(path: path, timeout: options.lockTimeout).create(bytes)
    defer { FileLock.release(file.descriptor) }
    state.adopt(file)
    do throws(VaultError) { try mark?.create(state) } catch {
      // Ours, since we hold its lock: without its mark it would not open again. But where only the durability of the mark
      // is in doubt, both are in place.
      if error.code != .durabilityUnknown { unlink(path.file) }
      throw error
    }
    return try Vault(state)
  }
}

extension NewGroup {
  /// Adds the group with its records to a vault in the making.
  func add(to draft: inout VaultDraft) throws(VaultError) {
    let content = try draft.addGroup(try Vault.Name(name))
    guard !services.isEmpty else { return }
    let (sealer, options) = (draft.sealer, draft.options)
    var changes: [RecordChange] = []
    let groupSealer = try GroupSealer(content, options, sealer)
    for (service, fill) in services {
      var batch = Vault.Batch(service: try service.get(), groupSealer)
      try fill(&batch)
      changes += batch.changes
    }
    if let body = try content.entryBody(changes, now: options.now(), sealer: sealer) {
      try draft.apply(body, to: content.id)
    }
  }
}
