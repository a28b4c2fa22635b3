internal import VaultCore
internal import VaultSealing

extension VaultInfo {
  /// The name of the advice that only one slot is an owner's, which is for owners alone: no other may add one.
  static let oneOwner = "oneOwner"

  /// The name of the advice that the journal is long.
  static let longJournal = "longJournal"

  /// The problems that can be found without a key.
  var problems: [Problem] {
    var problems: [Problem] = []
    if let tornTail {
      problems.append(Problem(.warning, "tornTail", tornTail.words, repair: Vault.TornTail.repair))
    }
    // Format section 5: an owner's next write folds such a journal, but group holders do not.
    if journalBytes > max(1 << 16, snapshotBytes) {
      problems.append(
        Problem(
          .advice, Self.longJournal,
          "the journal of \(journalBytes) bytes is longer than the snapshot, which makes opening slow",
          repair: "secretprefs compact, as an owner"))
    }
    problems += slots.compactMap(\.problem)
    if slots.count(where: \.isOwner) == 1 {
      problems.append(
        Problem(
          .advice, Self.oneOwner,
          "only one passphrase or key opens the whole vault: if it is lost, the values are lost",
          repair: "secretprefs slots add"))
    }
    return problems
  }
}

extension VaultInfo.Slot {
  fileprivate var problem: Problem? {
    let least = PassphraseCost.minimum
    switch kind {
    case .passphrase(let cost) where cost.passes < least.passes || cost.kibibytes < least.kibibytes:
      return Problem(
        .warning, "cheapPassphrase", "slot \(id.short): guessing its passphrase costs \(cost), less than \(least)",
        repair: "secretprefs passphrase --slot \(id.short)")
    case .unknown(let number):
      return Problem(
        .warning, "unknownSlot", "slot \(id.short) has kind \(number), which this version cannot check or rotate",
        repair: "secretprefs slots remove \(id.short), as an owner, or use a later version")
    default: return nil
    }
  }
}
