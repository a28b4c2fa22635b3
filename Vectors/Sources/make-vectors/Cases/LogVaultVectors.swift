/// Right logs beside vaults that know less, or something else.
enum LogVaultVectors {
  private static let usual = LogVectors.usual

  static var all: [LogVector] { keys + policies }

  private static var keys: [LogVector] {
    [
      usualLog("lost-key", "the vault has lost the key of the first epoch", usual, .init(.lostKey, 1, 5)) {
        $0.draft.setLog(1, $0.draft.logItem(1, earlier: [2]))
      },
      usualLog(
        "lost-keys", "the vault has lost the keys of two epochs", usual, .init(.lostKey, 1), .init(.lostKey, 1, 13)
      ) { $0.draft.setLog(1, $0.draft.logItem(1, earlier: [])) },
      usualLog(
        "lost-key-unopened", "the sealed key of the second epoch does not open: the first is lost with it", usual,
        .init(.lostKey, 1), .init(.lostKey, 1, 13)
      ) {
        var item = $0.draft.logItem(1, earlier: [1, 2])
        var sealed = item.earlier[1].sealed
        sealed.flip(at: 60)
        item.earlier[1] = LogItem.EarlierKey(epoch: 2, sealed: sealed)
        $0.draft.setLog(1, item)
      },
      usualLog("lost-key-cut", "a lost key, and an event of it is gone", usual, .init(.lostKey, 1, 5), .init(.fork, 8))
      {
        $0.draft.setLog(1, $0.draft.logItem(1, earlier: [2]))
        $0.log.files[0].bytes.removeSubrange($0.log.files[0].places[3]!)
      },
      LogVector("later-key", "a header of a later epoch", .init(.laterKey, 3)) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3, synced: true)
        $0.log.append(.handOver, epoch: 3, synced: true)
        $0.log.begin()
        $0.log.append(.newKey, epoch: 4)
      },
      LogVector("later-key-empty", "a header of a later epoch, and no event yet", .init(.laterKey, 16)) {
        $0.writeUntilHandOver()
        $0.log.begin()
        $0.log.restate(epoch: 4)
      },
      LogVector(
        "later-key-event", "an event of a later epoch behind the header's last: its writer was killed",
        .init(.debris, 3, certain: false)
      ) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3, synced: true)
        $0.log.append(.rotate(4), epoch: 3, synced: true)
        $0.log.append(.newKey, epoch: 4)
        $0.log.putBackHeader(1)
      },
    ]
  }

  private static var policies: [LogVector] {
    [
      LogVector("off", "a policy of 0, and no log", .init(.noLog, 1)) {
        $0.switchOff()
        $0.hasCurrent = false
      },
      LogVector("off-stopped", "a policy of 0, and a log that ends with *stop* and what a holder has looked at") {
        $0.writeStopped()
        $0.log.append(.acknowledge([(.interrupted, 2, 2)]), epoch: 3)
      },
      LogVector("off-not-stopped", "the same, and the log does not end with *stop*", .init(.noStop, 4)) {
        $0.writeStopped()
        $0.log.append(.start(1), epoch: 3, synced: true)
        $0.log.append(.read, epoch: 3)
      },
      LogVector("off-never-started", "a vault without items, beside a log", .init(.noStop, 1)) {
        $0.writeStopped()
        $0.log.current.cut(from: 3)
        $0.log.putBackHeader(1)
        $0.draft.groups[1].section.extensionField = []
        $0.draft.manifest.extensionField = []
      },
      LogVector("off-no-items", "a vault without items: off") {
        $0.draft.groups[1].section.extensionField = []
        $0.draft.manifest.extensionField = []
        $0.hasCurrent = false
      },
      usualLog("policy-unknown", "a policy that this version does not know counts as 1", usual) {
        var item = $0.draft.logItem(1, policy: 9, earlier: [1, 2])
        (item.limit, item.keep) = (.max, .max)
        $0.draft.setLog(1, item)
      },
      usualLog("other-setting", "the manifest says fail-open", usual, .init(.otherSetting, 21)) {
        $0.draft.setDefault(LogItem(policy: 2))
      },
      usualLog("other-setting-none", "the manifest says nothing, which is off", usual, .init(.otherSetting, 21)) {
        $0.draft.manifest.extensionField = []
      },
      usualLog("other-setting-holder", "the manifest says fail-open, which a holder does not see", usual) {
        $0.draft.setDefault(LogItem(policy: 2))
        $0.credential = .holder
      },
      usualLog("changed", "an entry changes the policy", usual, .init(.otherSetting, 21)) {
        $0.draft.append(1, .other([3, 2]))
      },
      usualLog("changed-back", "two entries change the policy, and change it back", usual) {
        $0.draft.append(1, .other([3, 2]), .put(Record("git", "z", "1")))
        $0.draft.append(1, .other([3, 1]))
      },
      LogVector("changed-off", "an entry switches the log off", .init(.noLog, 1), .init(.otherSetting, 1)) {
        $0.draft.append(1, .other([3, 0]))
        $0.hasCurrent = false
      },
    ]
  }

  private static func usualLog(
    _ name: String, _ about: String, _ findings: LogFinding..., change: @escaping (inout LogScene) -> Void
  ) -> LogVector {
    LogVector(name, about, findings) {
      $0.writeUsual()
      change(&$0)
    }
  }
}

extension LogScene {
  /// The group's item, and that of later groups, with policy 0.
  fileprivate mutating func switchOff() {
    draft.setLog(1, draft.logItem(1, policy: 0, earlier: []))
    draft.setDefault(LogItem(policy: 0))
  }

  /// A log that was switched on and off.
  fileprivate mutating func writeStopped() {
    switchOff()
    log.begin()
    log.append(.start(1), epoch: 3, synced: true)
    log.append(.read, epoch: 3)
    log.append(LogEvent(LogEvent.Action.stop), epoch: 3, synced: true)
  }
}
