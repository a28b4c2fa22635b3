internal import DurableFiles
public import Preferences

/// Runs migrations on a store, in the order of their versions, each once. Run it when the program starts, before other
/// code uses the store.
///
/// A migration that fails before the removals leaves every value as it was; the migrations before it remain done. A
/// migration that is killed, or that fails in the removals, is finished by the next run. A migration writes the sealed
/// values first, then the new values together with the version and a list of the values to remove, and then removes
/// those values. If the store writes several values as one transaction, as the stores of this package do, a reader
/// never sees a part of a migration.
public struct PreferenceMigrator: Sendable {
  /// The migrations, in the order they run.
  public let migrations: [PreferenceMigration]
  /// The name under which the version is stored.
  public let versionKey: String

  /// - Throws: `PreferencesError.Code.outOfRange` if a version is less than 1 or is repeated.
  public init(
    _ migrations: [PreferenceMigration], versionKey: String = "preferences.version"
  ) throws(PreferencesError) {
    _ = try PreferenceName(versionKey)
    self.migrations = migrations.sorted { $0.version < $1.version }
    self.versionKey = versionKey
    var last = 0
    for migration in self.migrations {
      guard migration.version > last else {
        throw PreferencesError(.outOfRange, "migration \(migration.version) is there twice, or is less than 1")
      }
      last = migration.version
    }
  }

  /// The version of a store's preferences; 0 if no version is stored.
  public func version(of store: some PreferencesStore) throws -> Int { try progress(of: store).version }

  /// Runs the migrations that have not run yet.
  ///
  /// - Returns: the versions of the migrations that ran.
  /// - Throws: `PreferencesError.Code.conflict` if the preferences have a later version than all migrations, and the
  ///   errors of the steps and the stores.
  @discardableResult
  public func run(on store: some PreferencesStore) throws -> [Int] {
    var progress = try progress(of: store)
    try finish(&progress, on: store)
    guard let latest = migrations.last?.version, progress.version <= latest else {
      if migrations.isEmpty { return [] }
      throw PreferencesError(.conflict, "the preferences are of version \(progress.version), which is later")
    }
    var done: [Int] = []
    for migration in migrations where migration.version > progress.version {
      var plan = MigrationPlan(store)
      for step in migration.steps { try step.plan(&plan) }
      progress = Progress(version: migration.version, removals: plan.removals)
      try perform(plan, progress)
      try finish(&progress, on: store)
      done.append(migration.version)
    }
    return done
  }

  /// The asynchronous form of `run(on:)`, on a helper thread. Cancelling the task does not stop it.
  @discardableResult
  public func run(on store: some PreferencesStore) async throws -> [Int] {
    try await HelperPool.waiting.run { try run(on: store) }
  }

  // MARK: Writing

  private func perform(_ plan: MigrationPlan, _ progress: Progress) throws {
    var before: [String: PreferenceValue?] = [:]
    let writes = plan.writes.merging([versionKey: progress.stored]) { $1 }
    for key in writes.keys {
      before[key] = .some(try plan.store.value(forKey: key))
    }
    var sealed: [MigrationPlan.Sealed] = []
    do {
      for one in plan.sealed {
        sealed.append(one)
        try one.store.edit(PreferenceEdits([.init(one.name, to: .value(one.value), secrecy: .secret)]))
        guard try one.store.content(for: one.query).isSame(as: .value(one.value)) else {
          throw PreferencesError(.unavailable, "what was sealed does not read back").about(key: one.name.text)
        }
      }
      try plan.store.set(writes)
    } catch {
      try undo(before, sealed, plan.store, after: error)
      throw error
    }
  }

  private func undo(
    _ before: [String: PreferenceValue?], _ sealed: [MigrationPlan.Sealed], _ store: any PreferencesStore,
    after cause: any Error
  ) throws {
    do {
      // Only changed values are undone: a store that accepts no writes would fail otherwise.
      for (key, value) in before {
        if try !store.value(forKey: key).isSame(as: value) { try store.edit { try $0.set(value, forKey: key) } }
      }
      for one in sealed where !one.wasThere {
        guard try one.store.content(for: one.query) != nil else { continue }
        try one.store.edit(PreferenceEdits([.init(one.name, to: nil, secrecy: .secret)]))
      }
    } catch {
      // No value is lost, because the plain values are removed last. The next run finds the same values and continues.
      throw PreferencesError(.unavailable, "a migration failed and could not be undone", cause: cause)
    }
  }

  /// Removes the values that the last migration has not removed yet.
  private func finish(_ progress: inout Progress, on store: some PreferencesStore) throws {
    guard !progress.removals.isEmpty else { return }
    let removals = progress.removals
    progress.removals = []
    let done = progress.stored
    try store.edit { edits in
      for key in removals { try edits.removeValue(forKey: key) }
      try edits.set(done, forKey: versionKey)
    }
  }

  // MARK: The version

  private struct Progress {
    var version = 0
    var removals: [String] = []

    /// The version, together with the keys that are still to be removed, if any.
    var stored: PreferenceValue {
      guard !removals.isEmpty else { return .integer(Int64(version)) }
      return ["version": .integer(Int64(version)), "removing": .array(removals.map(PreferenceValue.string))]
    }
  }

  private func progress(of store: some PreferencesStore) throws -> Progress {
    switch try store.value(forKey: versionKey) {
    case nil: return Progress()
    case .integer(let version)? where version >= 1: return Progress(version: Int(version))
    case .dictionary(let members)?:
      guard case .integer(let version)? = members["version"], version >= 1,
        case .array(let names)? = members["removing"]
      else { break }
      let removals = try names.map { (name) throws(PreferencesError) in try String(preferenceValue: name) }
      return Progress(version: Int(version), removals: removals)
    default: break
    }
    throw PreferencesError(.malformed, "the version is not one").about(key: versionKey)
  }
}
