/// A vault whose second group is logged, and the files of its log, as a vector changes them.
struct LogScene {
  /// Which of the draft's groups.
  static let group = 1
  /// The group's epoch in most vectors.
  static let epoch: UInt32 = 3

  var draft: Draft
  var log: LogMaker
  var credential = Credential.owner
  /// Handed-over files, by the numbers in their names, in place of the log's.
  var names: [UInt64]?
  /// Whether the last file is the current one.
  var hasCurrent = true
  /// The mark's line of the log.
  var mark: (number: UInt64, tag: Bytes)?
  /// Whether the manifest lists what the events say.
  var listsEvents = false

  init() {
    let draft = Draft.logged(seed: "SPV1 log")
    self.draft = draft
    let group = draft.groups[Self.group]
    log = LogMaker(
      place: LogPlace(
        vaultID: draft.vaultID, group: group.id, epoch: Self.epoch,
        keys: Dictionary(uniqueKeysWithValues: (1...4).map { ($0, draft.logKey(Self.group, epoch: $0)) })),
      seed: "SPV1 log events")
  }

  var logFiles: (handedOver: [(UInt64, Bytes)], current: Bytes?) {
    let handedOver = hasCurrent ? log.files.dropLast() : log.files[...]
    let numbers = names ?? handedOver.map(\.state.file)
    return (Array(zip(numbers, handedOver.map(\.bytes))), hasCurrent ? log.files.last?.bytes : nil)
  }

  /// Reads the vault again, and verifies its log, as a stranger would.
  func verify(_ file: Bytes, _ body: (LogVerification) -> Void) throws {
    let vault = try ReadVault(file)
    let name = draft.groups[Self.group].name
    var knowledge = try vault.logKnowledge(credential, group: name, deviceKey: Credential.deviceKey)
    knowledge.mark = mark
    body(LogVerification(handedOver: logFiles.handedOver.map(\.1), current: logFiles.current, knowledge))
  }

  /// A mark that says of the vault what is so.
  func markText() -> String {
    var lines = Mark(draft).lines
    if let mark {
      lines.append("log \(draft.groups[Self.group].id.hexadecimal) \(mark.number) \(mark.tag.hexadecimal)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Draft {
  /// `house` with a log of its second group, which is in its third epoch.
  static func logged(seed: String) -> Draft {
    var draft = house(seed: seed)
    draft.flags = 1
    draft.groups[1].epoch = LogScene.epoch
    draft.slots[1].epoch = LogScene.epoch
    draft.setLog(1, draft.logItem(1, earlier: [1, 2]))
    draft.setDefault(LogItem())
    return draft
  }

  /// LK of an epoch.
  func logKey(_ group: Int, epoch: UInt32) -> Bytes {
    var group = groups[group]
    group.epoch = epoch
    return LogItem.key(groupKey: group.key(vaultKey: vaultKey))
  }

  /// An item with the keys of these epochs.
  func logItem(_ group: Int, policy: UInt8 = 1, earlier: [UInt32]) -> LogItem {
    var random = RandomStream(seed: "SPV1 log item")
    var item = LogItem(policy: policy)
    for (epoch, newer) in zip(earlier, earlier.dropFirst() + [groups[group].epoch]) {
      let context = LogItem.context(vaultID: vaultID, group: groups[group].id, epoch: epoch)
      let sealed = Sealing.seal(
        logKey(group, epoch: epoch), key: logKey(group, epoch: newer), context: context, random: random.draw(24))
      item.earlier.append(LogItem.EarlierKey(epoch: epoch, sealed: sealed))
    }
    return item
  }

  mutating func setLog(_ group: Int, _ item: LogItem) {
    groups[group].section.extensionField = Record.item(LogItem.tag, item.bytes)
  }

  mutating func setDefault(_ item: LogItem) { manifest.extensionField = Record.item(LogItem.tag, item.bytes) }
}
