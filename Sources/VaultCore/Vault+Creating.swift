internal import DurableFiles
internal import VaultSealing

/// An access group of a new vault, with its first records.
public struct NewGroup: Sendable {
  /// Fills a transaction with the records of one service.
  public typealias Fill = @Sendable (inout Vault.Transaction) throws(VaultError) -> Void

  let name: String
  // An invalid name is refused when the vault is created.
  private(set) var services: [(name: Result<Vault.Name, VaultError>, fill: Fill)] = []

  /// An empty group.
  public init(_ name: String = AccessGroup.defaultName) { self.name = name }

  /// A group with records of one service.
  public init(_ name: String = AccessGroup.defaultName, service: String, _ fill: @escaping Fill) {
    self.name = name
    services = [(Result { () throws(VaultError) in try Vault.Name(service) }, fill)]
  }

  /// Adds the records of a service. A service may be added only once.
  public mutating func add(service: Vault.Name, _ fill: @escaping Fill) { services.append((.success(service), fill)) }
}

extension Vault {
  /// Creates a vault and opens it.
  ///
  /// The file has mode 0600 and missing directories are created with mode 0700, whatever the umask. With
  /// ``Options/markPath`` the mark is created as well. Everything is durable when the method returns.
  ///
  /// - Parameters:
  ///   - slots: at least one. Each credential becomes an owner.
  ///   - groups: the access groups of the vault, with unique names.
  /// - Throws: ``VaultError/Code/alreadyExists`` if a file exists at the path or the mark's path;
  ///   ``VaultError/Code/io`` for a name that ends in `.tmp` or belongs to a file beside another vault or mark;
  ///   ``VaultError/Code/insecurePermissions`` for the directory; ``VaultError/Code/lastOwnerSlot`` without slots;
  ///   ``VaultError/Code/kdfRefused`` for the cost of a passphrase; ``VaultError/Code/readOnly``;
  ///   ``VaultError/Code/durabilityUnknown``.
  public static func create(
    at path: String, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) throws(VaultError) -> Vault {
    try create(in: FileStorage(path, options: options), slots: slots, groups: groups, options: options)
  }

  /// Creates a vault in a storage that has none, and opens it: like `create(at:slots:groups:options:)`, with the errors
  /// of the storage.
  public static func create(
    in storage: any VaultStorage, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) throws(VaultError) -> Vault {
    try make(try prepare(storage, slots: slots, options: options), groups)
  }

  /// A vault that is being created, without groups.
  private struct Creation: @unchecked Sendable {
    // Unchecked: passed from one thread to the next.
    var draft: VaultDraft
    let storage: any VaultStorage
    let unlocked: Unlocked
    let mark: MarkKeeper?
  }

  private static func prepare(
    _ storage: any VaultStorage, slots: [NewSlot], options: Options
  ) throws(VaultError) -> Creation {
    guard !slots.isEmpty else { throw VaultError(.lastOwnerSlot, "a vault needs an owner") }
    try storage.checkVacant()
    let mark = try MarkKeeper(options)
    try mark?.judgeNew()
    var draft = try VaultDraft(new: options)
    var opened: [Unlocked] = []
    for slot in slots {
      opened.append(
        try draft.add(
          PreparedSlot(slot, vault: draft.vaultID, random: options.random, sealer: draft.sealer)))
    }
    return Creation(draft: draft, storage: storage, unlocked: opened[0], mark: mark)
  }

  private static func make(_ creation: Creation, _ groups: [NewGroup]) throws(VaultError) -> Vault {
    var draft = creation.draft
    for group in groups { try group.add(to: &draft) }
    return try make(draft, in: creation.storage, opening: creation.unlocked, mark: creation.mark)
  }

  /// The asynchronous form of `create(at:slots:groups:options:)`. Cancelling the task does not stop it.
  public static func create(
    at path: String, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) async throws(VaultError) -> Vault {
    try await create(in: .at(path, options), slots: slots, groups: groups, options: options)
  }

  /// The asynchronous form of `create(in:slots:groups:options:)`. Cancelling the task does not stop it.
  public static func create(
    in storage: any VaultStorage, slots: [NewSlot], groups: [NewGroup] = [NewGroup()], options: Options = Options()
  ) async throws(VaultError) -> Vault {
    let creation = try await HelperPool.using(slots.map(\.credential), for: storage.name).run {
      () throws(VaultError) in try prepare(storage, slots: slots, options: options)
    }
    return try await HelperPool.waiting(for: storage.name).run { () throws(VaultError) in try make(creation, groups) }
  }

  /// Stores a draft where no vault may exist, and opens it.
  static func make(
    _ draft: VaultDraft, in storage: any VaultStorage, opening unlocked: Unlocked, mark: MarkKeeper? = nil
  ) throws(VaultError) -> Vault {
    let options = draft.options
    let bytes = try draft.file()
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    // The reader's own code checks the bytes before they are stored.
    let state = try VaultState(
      FileImage(bytes), version: nil, storage: storage, options: options, sealer: draft.sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    for group in state.groups { _ = try state.content(group.id) }
    let (locked, version) = try storage.create(bytes)
    defer { locked.release() }
    state.adopt(version)
    do throws(VaultError) { try mark?.create(state) } catch {
      // Without its mark the file would not open again. If only the durability of the mark is unknown, both files
      // exist.
      guard error.code != .durabilityUnknown, !locked.remove() else { throw error }
      throw error.after("the vault was made, without its mark, and could not be removed")
    }
    return try Vault(state)
  }
}

extension NewGroup {
  /// Adds the group with its records to a draft.
  func add(to draft: inout VaultDraft) throws(VaultError) {
    let content = try draft.addGroup(try Vault.Name(name))
    guard !services.isEmpty else { return }
    let (sealer, options) = (draft.sealer, draft.options)
    var changes: [RecordChange] = []
    let groupSealer = try GroupSealer(content, options, sealer)
    for (service, fill) in services {
      var batch = Vault.Transaction(service: try service.get(), groupSealer)
      try fill(&batch)
      changes += batch.changes
    }
    if let body = try content.entryBody(changes, now: options.now(), sealer: sealer) {
      try draft.apply(body, to: content.id)
    }
  }
}
