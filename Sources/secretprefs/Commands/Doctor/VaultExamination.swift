internal import VaultCore
internal import VaultSealing

/// What an unlocked vault tells: groups, values, expiries and slots.
struct VaultExamination {
  private(set) var problems: [Problem] = []
  private(set) var unseen: [(part: String, reason: String)] = []
  /// Whether every granted group verifies.
  var isWhole: Bool { broken.isEmpty }

  private let vault: Vault
  private var broken: [(group: AccessGroup, error: VaultError)] = []
  private var whole: [AccessGroup] = []
  /// Values in the groups that verify, and the earlier ones that are kept.
  private var valueCount = 0
  private var expiredCount = 0

  /// - Throws: what has nothing to do with the vault's contents.
  init(_ vault: Vault, now: Int64, progress: ProgressLine?) throws(VaultError) {
    self.vault = vault
    try openGroups(now)
    if expiredCount > 0 {
      problems.append(
        Problem(
          .warning, "expired", "\(counted(expiredCount, "value has", "values have")) expired",
          repair: "secretprefs set stores new ones; secretprefs list --long shows which"))
    }
    try openValues(progress)
    try judgeSlots()
  }

  private mutating func openGroups(_ now: Int64) throws(VaultError) {
    for group in try vault.groups() {
      do throws(VaultError) {
        for record in try vault.records(in: group) {
          valueCount += 1 + record.previous.count
          if record.isExpired(at: now) { expiredCount += 1 }
        }
        whole.append(group)
      } catch {
        guard Examination.isFinding(error) else { throw error }
        broken.append((group, error))
      }
    }
    // One write mends them all, or none: each would be in the way of the others.
    let names = broken.map(\.group.name.text)
    let dashes = names.contains { $0.hasPrefix("-") } ? "-- " : ""
    let repair = "secretprefs doctor --repair empty-group \(dashes)\(names.map(shellWord).joined(separator: " "))"
    problems += broken.map { group, error in
      Problem(
        .error, "brokenGroup", "access group \(displayed(group.name.text)): \(displayed(error.message))",
        repair: "secretprefs salvage, for what is left in it; then \(repair)")
    }
  }

  private mutating func openValues(_ progress: ProgressLine?) throws(VaultError) {
    var (done, closed, onDevices, otherDevices) = (0, 0, 0, 0)
    for group in whole {
      try vault.openValues(in: group) { (error) throws(VaultError) in
        done += 1
        progress?.show(done, of: valueCount)
        guard let error else { return }
        switch error.code {
        case .deviceKeyMissing: onDevices += 1
        case .wrongDevice: otherDevices += 1
        default:
          guard Examination.isFinding(error) else { throw error }
          closed += 1
        }
      }
    }
    if closed > 0 {
      problems.append(
        Problem(
          .error, "brokenValue", "\(counted(closed, "value does", "values do")) not open, though sealed with the keys",
          repair: "secretprefs backup restore, or secretprefs salvage, which leaves them out"))
    }
    if otherDevices > 0 {
      problems.append(
        Problem(
          .warning, "wrongDevice", "\(counted(otherDevices, "value belongs", "values belong")) to another device key",
          repair: "secretprefs set, to store them anew for this one"))
    }
    if onDevices > 0 {
      unseen.append((counted(onDevices, "value", "values"), "bound to a device key, and none is configured"))
    }
  }

  private mutating func judgeSlots() throws(VaultError) {
    let slots: [SlotInfo]
    do throws(VaultError) { slots = try vault.slots() } catch {
      guard error.code == .ownerRequired else { throw error }
      return unseen.append(("slots and other groups", "only an owner may see them"))
    }
    for slot in slots where slot.isStale {
      let group = slot.group.map { "of access group \(displayed($0.text)), which has another key by now" }
      problems.append(
        Problem(
          .warning, "staleSlot", "slot \(slot.shortID) opens nothing: it is \(group ?? "of a group that is gone")",
          repair: "secretprefs slots remove \(slot.shortID)"))
    }
  }
}

/// A name as a shell takes it for one word.
func shellWord(_ name: String) -> String {
  let isPlain = name.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      || "-_.".utf8.contains(byte)
  }
  return isPlain ? name : "'\(displayed(name).replacing("'", with: "'\\''"))'"
}
