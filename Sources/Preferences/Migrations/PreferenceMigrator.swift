internal import DurableFiles

/// Runs migrations on a store, in the order of their versions, each once. Run it when the program starts, before other
/// code uses the store, and on the store that has the values: a composite reads all its layers and changes only one.
///
/// A migration that fails before the removals leaves every value as it was; the migrations before it remain done. A
/// migration that is killed, that fails in the removals, or whose version is stored although the store threw, is
/// finished by the next run. A migration writes the sealed values first, then the new values together with the version
/// and a list of the values to remove, and then removes those values. A dictionary that is removed goes with that write
/// if the name of a new value leads into it. If the store writes several values as one transaction, as the stores of
/// this package do, a reader never sees a part of a migration. Several processes can run the same migrations at the
/// same time: each migration is done by one of them.
public struct PreferenceMigrator: Sendable {
  /// The migrations, in the order they run.
  public let migrations: [PreferenceMigration]
  /// The name under which the version is stored.
  public var versionKey: String { versionName.text }
  private let versionName: PreferenceName

  /// The name under which the version is stored unless a caller chooses a different one: `preferences@version`.
  public static var defaultVersionKey: String { "preferences@version" }

  /// - Parameter versionKey: the default is a name that is no part of a dictionary of the program.
  /// - Throws: `PreferencesError.Code.outOfRange` if a version is less than 1 or is repeated.
  public init(
    _ migrations: [PreferenceMigration], versionKey: String = Self.defaultVersionKey
  ) throws(PreferencesError) {
    versionName = try PreferenceName(versionKey)
    self.migrations = migrations.sorted { $0.version < $1.version }
    var last = 0
    for migration in self.migrations {
      guard migration.version > last else {
        throw PreferencesError(.outOfRange, "migration \(migration.version) is repeated, or is less than 1")
      }
      last = migration.version
    }
  }

  /// The version of a store's preferences; 0 if no version is stored.
  public func version(of store: some PreferencesStore) throws -> Int { try progress(of: store).version }

  /// Runs the migrations that have not run yet.
  ///
  /// - Returns: the versions of the migrations that ran.
  /// - Throws: `PreferencesError.Code.conflict` if the preferences have a later version than all migrations, if a
  ///   removed value is still found because a different layer has it, or if a secret in a layer of a composite is
  ///   changed in place; `PreferencesError.Code.unavailable` if the store refuses or loses what is written, or other
  ///   programs keep changing the same values; the errors of the steps and the stores.
  @discardableResult
  public func run(on store: some PreferencesStore) throws -> [Int] {
    var done: [Int] = []
    var progress = try progress(of: store)
    var sealed: [MigrationPlan.Write] = []
    // Each migration takes two writes, of which another process may make one first. A store that loses what is written
    // looks as if another process had written, each time.
    for _ in 0..<migrations.count * 2 + Self.maximumConflicts {
      guard progress.removals.isEmpty else {
        progress = try finish(progress, on: store) ?? self.progress(of: store)
        try putBack(sealed)
        continue
      }
      guard let latest = migrations.last?.version, progress.version <= latest else {
        if migrations.isEmpty { return [] }
        throw PreferencesError(.conflict, "the preferences are of version \(progress.version), which is later")
      }
      guard let migration = migrations.first(where: { $0.version > progress.version }) else { return done }
      var plan = MigrationPlan(store)
      for step in migration.steps { try step.plan(&plan) }
      let secrecy = store.custody.secrecy(of: versionName)
      let around = plan.removalsAroundWrites(of: [.plain, secrecy])
      let removals = plan.removals.filter { place in
        !around.contains { $0.query.name == place.name && $0.query.secrecy == place.secrecy }
      }
      let next = Progress(version: migration.version, removals: removals)
      if try perform(plan, around, from: progress, to: next) {
        progress = next
        sealed = plan.sealed
        done.append(migration.version)
      } else {
        // Another process wrote first, perhaps the same migration.
        progress = try self.progress(of: store)
      }
    }
    throw PreferencesError(.unavailable, "\(store.name) refuses or loses what is written, or is always being changed")
  }

  /// The number of conflicts with other writers after which a run gives up.
  private static let maximumConflicts = 100

  /// The asynchronous form of `run(on:)`, on a helper thread. Cancelling the task does not stop it.
  @discardableResult
  public func run(on store: some PreferencesStore) async throws -> [Int] {
    try await HelperPool.waiting.run { try run(on: store) }
  }

  // MARK: Writing

  /// - Parameter around: the removals that are made together with the writes.
  /// - Returns: false if another process has written, and nothing was undone: it may need what was sealed.
  private func perform(
    _ plan: MigrationPlan, _ around: [MigrationPlan.Write], from old: Progress, to new: Progress
  ) throws -> Bool {
    // A secret that does not have the version beside it is in a different store of a composite. It is written first, so
    // that no run takes it for done.
    let isVersionSecret = plan.store.custody.secrecy(of: versionName) == .secret
    let apart = plan.writes.filter { $0.query.secrecy == .secret && !isVersionSecret }
    let together = around + plan.writes.filter { $0.query.secrecy == .plain || isVersionSecret }
    for write in apart where try write.before != nil && !write.before.isSame(as: write.content) {
      // A run that ends before it stores the version would change it again.
      throw PreferencesError(
        .conflict, "a secret of a layer cannot be changed in place: migrate the store that has it, not a composite"
      ).about(key: write.query.name.text)
    }
    var written: [MigrationPlan.Write] = []
    do {
      for write in plan.sealed + apart {
        written.append(write)
        guard try write.store.edit(PreferenceEdits([write.edit])) != .conflict else { return false }
        guard try write.store.content(for: write.query).isSame(as: write.content) else {
          throw PreferencesError(.unavailable, "what was sealed does not read back").about(key: write.query.name.text)
        }
      }
      written += together
      var edits = PreferenceEdits(together.map(\.edit) + [edit(from: old, to: new)])
      edits.isUnordered = true
      guard try plan.store.edit(edits) != .conflict else { return false }
    } catch {
      try undo(written, since: old, on: plan.store, after: error)
      throw error
    }
    return true
  }

  /// Undoes the writes, unless the store has a new version: it may have stored it and failed afterwards, or another
  /// process has. Then what was sealed is needed, because the next run removes the plain values.
  private func undo(
    _ writes: [MigrationPlan.Write], since old: Progress, on store: some PreferencesStore, after cause: any Error
  ) throws {
    do {
      guard try progress(of: store).stored.isSame(as: old.stored) else { return }
      // Only changed values are undone: a store that accepts no writes would fail otherwise.
      for write in writes where try !write.store.content(for: write.query).isSame(as: write.before) {
        let (name, secrecy) = (write.query.name, write.query.secrecy)
        try write.store.edit(
          PreferenceEdits([.init(name, to: write.before, secrecy: secrecy, if: .ifStored(write.content))]))
      }
    } catch {
      // No value is lost, because the plain values are removed last. The next run finds the same values and continues.
      throw PreferencesError(.unavailable, "a migration failed and could not be undone", cause: cause)
    }
  }

  /// Removes the values that the last migration has not removed yet.
  ///
  /// - Returns: `nil` if another process has written the version.
  private func finish(_ progress: Progress, on store: some PreferencesStore) throws -> Progress? {
    let done = Progress(version: progress.version)
    let removals = progress.removals.map { PreferenceEdits.Edit($0.name, to: nil, secrecy: $0.secrecy) }
    guard try store.edit(PreferenceEdits(removals + [edit(from: progress, to: done)])) != .conflict else { return nil }
    for place in progress.removals where try store.content(for: place.query) != nil {
      // So that the next run fails, too.
      try store.edit(PreferenceEdits([edit(from: done, to: progress)]))
      throw PreferencesError(
        .conflict, "another layer still has a value: migrate the store that has the values, not a composite"
      ).about(key: place.name.text)
    }
    return done
  }

  /// Puts back what the removals have removed from a sealed store, which the migrated store has under a different name,
  /// such as below a prefix.
  private func putBack(_ sealed: [MigrationPlan.Write]) throws {
    for write in sealed where try write.store.content(for: write.query) == nil {
      let (name, secrecy) = (write.query.name, write.query.secrecy)
      try write.store.edit(PreferenceEdits([.init(name, to: write.content, secrecy: secrecy, if: .ifStored(nil))]))
      throw PreferencesError(.conflict, "it was already sealed, in the store that was migrated").about(key: name.text)
    }
  }

  /// Stores the version if no other process has changed it.
  private func edit(from old: Progress, to new: Progress) -> PreferenceEdits.Edit {
    .init(
      versionName, to: new.stored.map(PreferenceContent.value), if: .ifStored(old.stored.map(PreferenceContent.value)))
  }

  // MARK: The version

  private struct Progress {
    var version = 0
    var removals: [MigrationPlan.QualifiedName] = []
    /// What is stored: the version, together with the keys that are still to be removed, if any.
    let stored: PreferenceValue?

    /// No migration has run.
    init() { stored = nil }

    init(version: Int, removals: [MigrationPlan.QualifiedName] = []) {
      self.version = version
      self.removals = removals
      func names(_ secrecy: Secrecy) -> PreferenceValue {
        .array(removals.filter { $0.secrecy == secrecy }.map { .string($0.name.text) })
      }
      stored =
        removals.isEmpty
        ? .integer(Int64(version))
        : ["version": .integer(Int64(version)), "removing": names(.plain), "removingSecrets": names(.secret)]
    }

    /// - Returns: `nil` if no migration stores this.
    init?(_ stored: PreferenceValue) throws(PreferencesError) {
      self.stored = stored
      switch stored {
      case .integer(let version) where version >= 1: self.version = Int(version)
      case .dictionary(let members):
        guard case .integer(let version)? = members["version"], version >= 1,
          case .array(let plain)? = members["removing"], case .array(let secret)? = members["removingSecrets"]
        else { return nil }
        self.version = Int(version)
        for (names, secrecy) in [(plain, Secrecy.plain), (secret, .secret)] {
          for name in names {
            removals.append(.init(name: try PreferenceName(String(preferenceValue: name)), secrecy: secrecy))
          }
        }
      default: return nil
      }
    }
  }

  private func progress(of store: some PreferencesStore) throws -> Progress {
    guard let stored = try store.value(for: PreferenceQuery(versionName)) else { return Progress() }
    if let progress = try Progress(stored) { return progress }
    throw PreferencesError(.malformed, "the stored version is not valid").about(key: versionKey)
  }
}
