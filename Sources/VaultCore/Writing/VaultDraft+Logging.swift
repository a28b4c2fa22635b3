internal import VaultSealing

/// The events that a full write logs.
struct LoggedWrite {
  /// The events of one group's log.
  struct Group {
    let keys: AuditKeys
    let event: AuditLog.Event
    /// Whether the write makes the group.
    var isOfNewGroup = false
  }

  /// Before the write. If one cannot be logged fail-closed, nothing is written.
  var before: [Group] = []
  /// After the write, which is durable by then.
  var after: [Group] = []

  /// The keys of the logs of groups that the write makes.
  var newGroups: [AuditKeys] { before.filter(\.isOfNewGroup).map(\.keys) }
}

/// The logs of the groups (`Docs/Format.md` F.1).
extension VaultDraft {
  /// Sets the policy of every group and of groups that are made later; `nil` switches logging off. Keys are kept.
  ///
  /// - Parameter limits: `nil` keeps those of each group.
  mutating func setAuditing(_ policy: AuditPolicy?, _ limits: AuditLimits?) throws(VaultError) {
    // Switching off what was never on leaves the file as it is.
    guard policy != nil || isLogged else { return }
    isLogged = true
    setsLogging = true
    var setting = try logSetting ?? AuditItem()
    setting.set(policy, limits)
    extensionField = try setting.put(in: extensionField)
    // A group without an item has no log, and a missing one is no finding.
    for index in groups.indices where policy != nil || groups[index].content.auditItem != nil {
      var item = groups[index].content.auditItem ?? AuditItem()
      item.set(policy, limits)
      try set(item, of: index)
      groups[index].sealed = nil
    }
  }

  /// The item of groups that are made later.
  private var logSetting: AuditItem? {
    get throws(VaultError) {
      isLogged ? try AuditItem(in: extensionField.bytes, isLogged: true, epoch: nil) : nil
    }
  }

  private mutating func set(_ item: AuditItem, of index: Int) throws(VaultError) {
    groups[index].extensionField = try item.put(in: groups[index].extensionField)
  }

  /// Gives the group that was added last the setting of the vault. A new group has none while logging is off.
  ///
  /// - Parameter old: the epoch and key that the group had before; `nil` for a new group.
  mutating func logNewGroup(after old: (epoch: UInt32, key: SealingKey)? = nil) throws(VaultError) {
    let index = groups.count - 1
    groups[index].former = old
    guard var item = try logSetting, item.policy != nil || old != nil else { return }
    if let old { try keep(old.key, epoch: old.epoch, of: index, in: &item) }
    try set(item, of: index)
  }

  private func keep(
    _ key: SealingKey, epoch: UInt32, of index: Int, in item: inout AuditItem
  ) throws(VaultError) {
    let group = groups[index]
    try item.keep(epoch: epoch, of: key, under: group.key, vault: vaultID, group: group.content.id, sealer)
  }

  /// Keeps the log's key of a group's old epoch, so that what was logged stays readable.
  mutating func keepLogKey(of index: Int) throws(VaultError) {
    let content = groups[index].content
    guard var item = content.auditItem else { return }
    try keep(content.key, epoch: content.epoch, of: index, in: &item)
    try set(item, of: index)
  }

  /// Sets the feature flag and the setting of a vault that was put together from saved parts.
  ///
  /// - Parameter isListed: whether the manifest was saved, which has the setting.
  mutating func adoptLogging(isListed: Bool) throws(VaultError) {
    let items = groups.compactMap(\.content.auditItem)
    let hasSetting = try Extension.contains(AuditItem.tag, in: extensionField.bytes)
    isLogged = hasSetting || !items.isEmpty
    guard !isListed, let item = items.first(where: { $0.policy != nil }) else { return }
    extensionField = try item.forNewGroup.put(in: extensionField)
  }

  /// The events of this write, in the logs of the groups that it concerns.
  func loggedWrite() throws(VaultError) -> LoggedWrite {
    var write = LoggedWrite()
    guard isLogged else { return write }
    for group in groups {
      let item = try AuditItem(in: group.extensionField.bytes, isLogged: true, epoch: group.epoch)
      if let former = group.former, former.epoch != group.epoch {
        // A group that is repaired has no item that could be read.
        let isRepaired = group.content.epoch == group.epoch
        guard let old = isRepaired ? item : group.content.auditItem, let policy = old.policy else { continue }
        var epoch = ByteWriter()
        epoch.integer(group.epoch)
        write.before.append(
          .init(
            keys: try AuditKeys(
              vault: vaultID, group: group.content.id, epoch: former.epoch, key: former.key, isRepaired ? nil : old,
              sealer, policy: isRepaired ? .failOpen : policy),
            event: AuditLog.Event(action: .rotate, item: (AuditBody.Tag.epoch, epoch.bytes))))
        write.after.append(
          .init(keys: try keys(of: group, item, policy: .failClosed), event: AuditLog.Event(action: .newKey)))
      } else if group.former == nil || setsLogging {
        let wasLogged = group.content.auditItem?.policy != nil
        if let policy = item?.policy {
          // Not switched on where it cannot work. But fail-open must remain possible where the log has failed.
          let isWayOut = wasLogged && policy == .failOpen
          write.before.append(
            .init(
              keys: try keys(of: group, item, policy: isWayOut ? .failOpen : .failClosed),
              event: AuditLog.Event(
                action: .start, item: (AuditBody.Tag.policy, [policy.number]),
                beginsLog: group.former == nil || group.content.auditItem == nil),
              isOfNewGroup: group.former == nil))
        } else if wasLogged {
          write.before.append(
            .init(keys: try keys(of: group, item, policy: .failOpen), event: AuditLog.Event(action: .stop)))
        }
      }
    }
    return write
  }

  private func keys(
    of group: GroupEntry, _ item: AuditItem?, policy: AuditPolicy
  ) throws(VaultError) -> AuditKeys {
    try AuditKeys(
      vault: vaultID, group: group.content.id, epoch: group.epoch, key: group.key, item, sealer, policy: policy)
  }
}

extension AuditItem {
  fileprivate mutating func set(_ policy: AuditPolicy?, _ limits: AuditLimits?) {
    policyNumber = policy?.number ?? AuditPolicy.off
    if let limits { self.limits = limits }
  }
}
