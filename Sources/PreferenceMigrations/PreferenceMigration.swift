public import Preferences

/// What brings the preferences of a store to a version, once.
///
/// ```swift
/// try PreferenceMigrator([
///   PreferenceMigration(to: 1, [.rename("port", to: "server.port")]),
///   PreferenceMigration(to: 2, [.seal("github.token", into: vault)]),
/// ]).run(on: settings)
/// ```
public struct PreferenceMigration: Sendable {
  /// The version that the preferences have afterwards; 1 or more.
  public let version: Int
  /// What is done, in this order.
  public let steps: [Step]

  /// - Parameters:
  ///   - version: what the store is at when the steps are done.
  ///   - steps: in order.
  public init(to version: Int, _ steps: [Step]) { (self.version, self.steps) = (version, steps) }

  /// One change. It only plans: nothing is written before every step of its migration has planned.
  public struct Step: Sendable {
    let plan: @Sendable (inout MigrationPlan) throws -> Void
  }
}

// Each of these does nothing when there is no value.
extension PreferenceMigration.Step {
  /// Gives a value another name.
  ///
  /// Fails with `PreferencesError.Code.conflict` when another value has that name already.
  public static func rename(_ old: String, to new: String) -> Self {
    Self { plan in
      guard old != new, let value = try plan.value(forKey: old) else { return }
      let there = try plan.value(forKey: new)
      guard there == nil || there.isSame(as: value) else {
        throw PreferencesError(.conflict, "another value has the new name \"\(new)\"").about(key: old)
      }
      plan.change(new, to: value)
      plan.change(old, to: nil)
    }
  }

  /// Changes how a value is stored; nil removes it. `change` gets what is stored now.
  public static func convert(
    _ key: String, _ change: @escaping @Sendable (PreferenceValue) throws -> PreferenceValue?
  ) -> Self {
    Self { plan in
      if let value = try plan.value(forKey: key) { plan.change(key, to: try change(value)) }
    }
  }

  /// Reads a value as one key declares it and stores it as another does, under that one's name.
  public static func convert<Old, New>(
    _ old: PreferenceKey<Old>, to new: PreferenceKey<New>, _ change: @escaping @Sendable (Old) throws -> New
  ) -> Self {
    Self { plan in
      guard let stored = try plan.value(forKey: old.name) else { return }
      let value = try new.encode(try change(try old.decoded(stored)))
      if old.name != new.name {
        guard try plan.value(forKey: new.name) == nil else {
          throw PreferencesError(.conflict, "there is a value under the new name \"\(new.name)\"").about(key: old.name)
        }
        plan.change(old.name, to: nil)
      }
      plan.change(new.name, to: value)
    }
  }

  /// Removes a value.
  public static func remove(_ key: String) -> Self {
    Self { plan in if try plan.value(forKey: key) != nil { plan.change(key, to: nil) } }
  }

  /// Moves a plain value into a sealed store: it is sealed, read back and compared, and only then is the plain one removed.
  /// A copy of the plain value may stay behind where a file was, in freed blocks and in backups: replace the secret, too,
  /// when somebody could read those.
  ///
  /// Fails with `PreferencesError.Code.conflict` when another value is sealed under that name already.
  /// - Parameter sealedName: its name there; the same when nil.
  public static func seal(
    _ key: String, as sealedName: String? = nil, into sealed: any PreferencesStore
  ) -> Self {
    Self { plan in
      guard let value = try plan.value(forKey: key) else { return }
      guard sealed.custody.takes(.secret) else { throw PreferencesError.noStore(in: sealed.name, for: .secret) }
      let name = sealedName ?? key
      let query = try PreferenceQuery(name, secrecy: .secret)
      // A run that was killed before the plain value was removed has sealed the same one.
      let there = try sealed.content(for: query)
      guard try there == nil || there.isSame(as: .value(value)) else {
        throw PreferencesError(.conflict, "another value is sealed as \"\(name)\"").about(key: key)
      }
      plan.sealed.append(MigrationPlan.Sealed(value: value, name: query.name, wasThere: there != nil, store: sealed))
      plan.change(key, to: nil)
    }
  }
}

extension PreferencesError.Code {
  /// Something else is already where a value is to go, or the preferences are of a later version.
  public static let conflict = Self(rawValue: "conflict")
}
