/// Changes the preferences of a store to a new version. Runs once.
///
/// ```swift
/// try PreferenceMigrator([
///   PreferenceMigration(to: 1, [.rename("port", to: "server.port")]),
///   PreferenceMigration(to: 2, [.seal("github.token", into: vault)]),
/// ]).run(on: settings)
/// ```
public struct PreferenceMigration: Sendable {
  /// The version of the preferences after the migration; 1 or more.
  public let version: Int
  /// The steps, in the order they run.
  public let steps: [Step]

  /// - Parameters:
  ///   - version: the version of the store after the steps.
  ///   - steps: the steps, in the order they run.
  public init(to version: Int, _ steps: [Step]) {
    self.version = version
    self.steps = steps
  }

  /// One change. Steps only plan changes; nothing is written until every step of the migration has been planned. Each
  /// step sees what those before it did; in a file, also to a value that has a part of its own as an entry, such as
  /// `server` after a change of `server.port`. In a composite or a view of a file, a step that reads such a value fails
  /// with `PreferencesError.Code.conflict`.
  public struct Step: Sendable {
    let plan: @Sendable (inout MigrationPlan) throws -> Void
  }
}

// Each step does nothing if there is no value. A value that is moved stays a secret if it was one.
extension PreferenceMigration.Step {
  /// Moves a value to a new name.
  ///
  /// Fails with `PreferencesError.Code.conflict` if the new name already has a different value.
  public static func rename(_ old: String, to new: String) -> Self {
    Self { plan in
      let source = plan.place(try PreferenceQuery(old))
      let destination = plan.place(try PreferenceQuery(new, secrecy: source.secrecy))
      guard source != destination, let content = try plan.content(for: source.query) else { return }
      let there = try plan.content(for: destination.query)
      guard try there == nil || there.isSame(as: content) else {
        throw PreferencesError(.conflict, "another value has the new name \"\(new)\"").about(key: old)
      }
      // First the removal: the new name can lead into the value.
      try plan.change(source.query, to: nil)
      try plan.change(destination.query, to: content)
    }
  }

  /// Replaces a stored value with the result of `change`; `nil` removes the value. `change` receives the stored value.
  public static func convert(
    _ key: String, _ change: @escaping @Sendable (PreferenceValue) throws -> PreferenceValue?
  ) -> Self {
    Self { plan in
      let query = try PreferenceQuery(key)
      guard let content = try plan.content(for: query) else { return }
      try plan.change(query, to: try change(try content.value()).map(PreferenceContent.value))
    }
  }

  /// Reads a value as `old` declares it, converts it with `change`, and stores it as `new` declares it, under the name
  /// of `new`. The value of a secret key is written to sealed layers only.
  ///
  /// Fails with `PreferencesError.Code.conflict` if a different value is already at the new place, and with
  /// `PreferencesError.Code.noStore` if `new` is secret and the store takes no secrets.
  public static func convert<Old, New>(
    _ old: PreferenceKey<Old>, to new: PreferenceKey<New>, _ change: @escaping @Sendable (Old) throws -> New
  ) -> Self {
    Self { plan in
      let (source, destination) = (try old.query(), try new.query())
      guard let stored = try plan.content(for: source) else { return }
      // The store knows which names are secrets, whatever the keys declare.
      let content = try new.encoded(try change(try old.decoded(stored, of: plan.store)), for: plan.store)
      if plan.place(source) != plan.place(destination) {
        let there = try plan.content(for: destination)
        // A run that was killed before it stored the version may have written the same value.
        guard try there == nil || there.isSame(as: content) else {
          throw PreferencesError(.conflict, "another value has the new name \"\(new.name)\"").about(key: old.name)
        }
        try plan.change(source, to: nil)
      }
      try plan.change(destination, to: content)
    }
  }

  /// Removes a value.
  public static func remove(_ key: String) -> Self {
    Self { plan in
      let query = try PreferenceQuery(key)
      if try plan.content(for: query) != nil { try plan.change(query, to: nil) }
    }
  }

  /// Moves a plain value into a sealed store. The value is sealed, read back and compared; only then is the plain value
  /// removed.
  ///
  /// A copy of the plain value may remain in freed disk blocks and in backups. If others can read those, replace the
  /// secret as well.
  ///
  /// Fails with `PreferencesError.Code.conflict` if a different value is already sealed under that name, and in a
  /// composite in which `sealed` claims `key`: it would find the sealed value and not the plain one. Put the vault into
  /// the composite as `vault.unclaimed` for the migration, or migrate the plain store.
  /// - Parameter sealedName: the name in the sealed store; `nil` uses `key`.
  public static func seal(
    _ key: String, as sealedName: String? = nil, into sealed: any PreferencesStore
  ) -> Self {
    Self { plan in
      let source = try PreferenceQuery(key)
      let name = sealedName ?? key
      if plan.place(source).secrecy == .secret {
        // The source is what was sealed, and would be removed.
        if name == key, plan.store.identity == sealed.identity { return }
        guard !plan.store.hasLayer(sealed.identity) else {
          throw PreferencesError(
            .conflict, "\(sealed.name) claims the name: migrate the store that has the plain value, not a composite"
          ).about(key: key)
        }
      }
      guard let content = try plan.content(for: source) else { return }
      guard sealed.custody.takes(.secret) else { throw PreferencesError.noStore(in: sealed.name, for: .secret) }
      let query = try PreferenceQuery(name, secrecy: .secret)
      // A run that was killed before it removed the plain value has already sealed the same value.
      let there = try sealed.content(for: query)
      guard try there == nil || there.isSame(as: content) else {
        throw PreferencesError(.conflict, "another value is sealed as \"\(name)\"").about(key: key)
      }
      plan.sealed.append(MigrationPlan.Write(store: sealed, query: query, content: content, before: there))
      try plan.change(source, to: nil)
    }
  }
}

extension PreferencesReader {
  /// Whether this is a composite that has a layer with this identity, at any depth.
  fileprivate func hasLayer(_ identity: StoreIdentity) -> Bool {
    (self as? CompositePreferences)?.layers.contains { $0.identity == identity || $0.hasLayer(identity) } ?? false
  }
}
