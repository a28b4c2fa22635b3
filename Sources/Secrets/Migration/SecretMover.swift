internal import Preferences
internal import VaultCore

/// Copies secrets into a vault, verifies the copies and erases the source.
struct SecretMover: Sendable {
  let names: [String: String]
  let target: SecretPreferences
  let policy: SecretMigration.ConflictPolicy
  let transform: SecretPreferences.MigrationTransform?

  /// One value of the source.
  struct Found {
    let name: PreferenceName
    let key: String
    /// The value in the source.
    let original: PreferenceContent
    /// The value for the vault.
    let content: GuardedContent
    /// The metadata, if the source is a vault.
    let record: RecordInfo?

    /// The metadata of the source, but without the lease of a ``RefreshingToken``; that of the vault if the source has
    /// none.
    var edit: RecordEdit {
      guard let record else { return RecordEdit() }
      var edit = RecordEdit(metadataOf: record)
      edit.attributes = record.ownAttributes.isEmpty ? .remove : .set(record.ownAttributes)
      return edit
    }
  }

  /// Refuses a source in which erasing could remove what was just sealed.
  func checkCanErase(_ source: any PreferencesStore) throws(VaultError) {
    guard let vault = source as? SecretPreferences else {
      // The source may be a view of this store, under other names.
      guard !source.custody.holds(.secret) else {
        throw VaultError(.conflict, "the source may be a view of the same secrets")
      }
      return
    }
    // Compares the ids of the groups in the file, because the stores may have different handles of one vault.
    guard vault.group.id == target.group.id, vault.service == target.service else { return }
    guard Set(names.keys).isDisjoint(with: names.values) else {
      throw VaultError(.conflict, "a secret would be moved onto one that is moved")
    }
  }

  // MARK: Copying

  /// - Returns: what was done, and the values that both sides have.
  func copy(from source: any PreferencesReader) throws -> (migration: SecretMigration, copied: [Found]) {
    guard Set(names.values).count == names.count else {
      throw VaultError(.conflict, "two names have the same key in the vault")
    }
    let (found, absent) = try find(in: source)
    var (migration, copied) = try seal(found)
    try verify(copied)
    for key in absent {
      if try target.vault.record(service: target.serviceName, key: key, in: target.group) == nil {
        migration.missing.append(key)
      } else {
        migration.present.append(key)
      }
    }
    return (migration, copied)
  }

  private func find(in source: any PreferencesReader) throws -> (found: [Found], absent: [String]) {
    // A snapshot, so that value and metadata belong to the same moment.
    let snapshot = try source as? SecretSnapshot ?? (source as? SecretPreferences)?.snapshot()
    let reader: any PreferencesReader = snapshot ?? source
    var (found, absent): ([Found], [String]) = ([], [])
    for (name, key) in names.sorted(by: { $0.key < $1.key }) {
      let query = try PreferenceQuery(name)
      guard let original = try reader.content(for: query) else {
        absent.append(key)
        continue
      }
      let content: GuardedContent
      if let transform {
        content = try .copying(try transform(name, try original.value()))
      } else if case .guarded(let guarded) = original, let guarded = guarded as? GuardedContent {
        content = guarded
      } else {
        content = try .copying(try original.value())
      }
      let record = try snapshot?.record(forKey: name)
      found.append(Found(name: query.name, key: key, original: original, content: content, record: record))
    }
    return (found, absent)
  }

  /// Seals what the vault does not have. Repeated if another write comes in between.
  private func seal(_ found: [Found]) throws -> (SecretMigration, copied: [Found]) {
    while true {
      var migration = SecretMigration()
      var copied: [Found] = []
      var writes: [(secret: Found, revision: UInt64)] = []
      var differing = 0
      for secret in found {
        // The revision before the value: a write in between changes the revision.
        let record = try target.vault.record(service: target.serviceName, key: secret.key, in: target.group)
        let stored = try target.guardedContent(forKey: secret.key)
        if let stored, stored.isEqual(to: secret.content) {
          migration.present.append(secret.key)
        } else if stored != nil, policy != .replace {
          differing += 1
          migration.kept.append(secret.key)
          continue
        } else {
          writes.append((secret, record?.revision ?? 0))
          migration.sealed.append(secret.key)
        }
        copied.append(secret)
      }
      guard differing == 0 || policy == .keep else {
        throw VaultError(.conflict, "the vault has a different value under \(differing) of \(found.count) keys")
      }
      do {
        try target.transaction { batch in
          for (secret, revision) in writes {
            try batch.set(
              secret.content, forKey: secret.key,
              accessibility: target.accessibility == nil ? secret.record?.accessibility : nil, edit: secret.edit,
              ifRevision: revision)
          }
        }
        return (migration, copied)
      } catch let error as VaultError where error.code == .conflict { continue }
    }
  }

  /// Compares the values with those in the file, which is loaded again.
  private func verify(_ copied: [Found]) throws(VaultError) {
    if copied.isEmpty { return }
    let handle = try target.vault.reopened()
    for secret in copied {
      guard let stored = try target.guardedContent(forKey: secret.key, in: handle), stored.isEqual(to: secret.content)
      else { throw VaultError(.conflict, "a value in the vault is not the one of the source, which is left as it is") }
    }
  }

  // MARK: Erasing

  /// Removes the values from the source. A value that another call has removed is not an error.
  func erase(_ copied: [Found], from source: some PreferencesStore) throws {
    do {
      while true {
        var edits = PreferenceEdits()
        for secret in copied {
          guard let present = try source.content(for: PreferenceQuery(secret.name)) else { continue }
          guard try Optional(present).isSame(as: secret.original) else {
            throw PreferencesError(.notErased, "the source has a new value, which is not in the vault")
          }
          edits.append(PreferenceEdits.Edit(secret.name, to: nil, if: .ifStored(secret.original)))
        }
        if edits.isEmpty { return }
        if try source.edit(edits) == .conflict { continue }
        for secret in copied where try source.content(for: PreferenceQuery(secret.name)) != nil {
          throw PreferencesError(.notErased, "a different layer of the source has a value as well")
        }
        return
      }
    } catch let error as PreferencesError where error.code == .notErased { throw error } catch {
      throw PreferencesError(
        .notErased, "the secrets are in the vault, and cannot be removed from the source", cause: error)
    }
  }
}
