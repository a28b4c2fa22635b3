internal import Synchronization
internal import VaultSealing

/// The records whose values other handles and processes may have changed, found without opening a value.
package struct ChangesOfOthers: Sendable {
  /// The records of an access group.
  package enum Extent: Sendable, Hashable {
    case none
    /// The keys of each service, as the file spells them.
    case some([Vault.Name: Set<String>])
    /// Any record may have changed.
    case any
  }

  /// The records of a group; changed in place, because others may change many at once.
  private struct Names {
    var keys: [Vault.Name: Set<String>] = [:]
    var count = 0
    var isAny = false

    mutating func insert(_ service: Vault.Name, _ key: String) {
      guard !isAny, keys[service, default: []].insert(key).inserted else { return }
      count += 1
      if count > ChangesOfOthers.limit { self = .any }
    }

    static var any: Names {
      var names = Names()
      names.isAny = true
      return names
    }
  }

  /// More names are kept as "any".
  static let limit = 65_536

  private var groups: [Vault.Identifier: Names] = [:]
  private var isAnything = false

  init() {}

  /// Any record of any group may have changed.
  static var anything: ChangesOfOthers {
    var changes = ChangesOfOthers()
    changes.isAnything = true
    return changes
  }

  /// What has changed in an access group.
  package subscript(group: AccessGroup) -> Extent {
    guard !isAnything else { return .any }
    guard let names = groups[group.id] else { return .none }
    return names.isAny ? .any : .some(names.keys)
  }

  mutating func addAll(of group: Vault.Identifier) { groups[group] = .any }

  /// Adds the records that an entry sets and removes.
  mutating func add(_ staged: GroupContent.Staged, in group: Vault.Identifier) {
    for change in staged.changes {
      switch change {
      case .put(let record), .remove(let record): add(record, in: group)
      }
    }
  }

  /// Adds the differences between two loads of a vault. A group that was not opened, or cannot be, may have any.
  ///
  /// - Parameter own: records that this handle has changed.
  mutating func add(from old: VaultState, to new: VaultState, except own: Set<RecordAddress>) {
    for group in old.groups {
      guard let before = group.openedContent, new.group(group.id) != nil else {
        addAll(of: group.id)
        continue
      }
      do throws(VaultError) {
        let after = try new.content(group.id)
        before.forEachInOrder { record in
          if after.find(record.name).map({ !before.hasSameValue(record, as: $0, in: after) }) ?? true {
            add(record, in: group.id, except: own)
          }
        }
        after.forEachInOrder { record in
          if before.find(record.name) == nil { add(record, in: group.id, except: own) }
        }
      } catch { addAll(of: group.id) }
    }
  }

  private mutating func add(_ record: Record, in group: Vault.Identifier, except own: Set<RecordAddress> = []) {
    do throws(VaultError) {
      let address = RecordAddress(
        try Vault.Name(verbatim: record.name.service.copy), try Vault.Name(verbatim: record.name.key.copy))
      if !own.contains(address) { groups[group, default: Names()].insert(address.service, address.key.text) }
    } catch { addAll(of: group) }
  }
}

extension GroupContent {
  /// Whether a record has the value that it has in another load. A rotation seals it again.
  fileprivate func hasSameValue(_ record: Record, as other: Record, in load: GroupContent) -> Bool {
    compareBytes(record.bytesBeforeValue, other.bytesBeforeValue) == 0
      && (epoch != load.epoch || compareBytes(record.sealedValue, other.sealedValue) == 0)
  }
}

extension Vault {
  /// Starts or ends the recording of what others change.
  package func recordChangesOfOthers(_ isRecorded: Bool) {
    guard handle.forkGuard.isOwn else { return }
    handle.loaded.withLock { $0.recordChangesOfOthers(isRecorded) }
  }

  /// Returns what other handles and processes have changed since the last call. Reads the file, but does not count as a
  /// use of the vault.
  package func takeChangesOfOthers() throws(VaultError) -> ChangesOfOthers {
    try handle.withCurrent(isUse: false) { (_, state) in state.takeChanges() }
  }
}
