internal import VaultCore
internal import VaultSealing

extension VaultSummary {
  /// What is wrong as far as it shows without a key.
  var problems: [Problem] {
    var problems: [Problem] = []
    if hasTornTail {
      problems.append(
        Problem(
          .warning, "tornTail", TornTail.words,
          repair: "copy the file, and look whether the newest changes are there; a mark or a backup tells more"))
    }
    // 5: what an owner's next write would fold, holders of groups leave alone.
    if journalBytes > max(1 << 16, snapshotBytes) {
      problems.append(
        Problem(
          .advice, "longJournal",
          "the journal of \(journalBytes) bytes is longer than what it belongs to, which makes opening slow",
          repair: "secretprefs compact, as an owner"))
    }
    problems += slots.compactMap(\.problem)
    if slots.count(where: \.isOwner) == 1 {
      problems.append(
        Problem(
          .advice, "oneOwner", "one passphrase or key alone opens the whole vault: if it is lost, all is lost",
          repair: "secretprefs slots add"))
    }
    return problems
  }
}

extension VaultSummary.Slot {
  private var shortID: String { String(id.description.prefix(8)) }

  fileprivate var problem: Problem? {
    let least = PassphraseCost.minimum
    switch kind {
    case .passphrase(let cost) where cost.passes < least.passes || cost.kibibytes < least.kibibytes:
      return Problem(
        .warning, "cheapPassphrase", "slot \(shortID): a guess at its passphrase costs \(cost), less than \(least)",
        repair: "secretprefs passphrase --slot \(shortID)")
    case .unknown(let number):
      return Problem(
        .warning, "unknownSlot", "slot \(shortID) is of kind \(number), which this version cannot renew or check",
        repair: "secretprefs slots remove \(shortID), or use a later version")
    default: return nil
    }
  }
}
