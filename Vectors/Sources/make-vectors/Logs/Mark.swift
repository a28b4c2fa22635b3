/// The high-water mark of annex B for a draft as it stands.
struct Mark {
  private(set) var lines: [String]

  init(_ draft: Draft) {
    let forged = draft.forged()
    lines = [
      "spv-mark-1", "vault \(draft.vaultID.hexadecimal)",
      "owner \(draft.generation) \(forged.manifest.tag.hexadecimal)",
    ]
    for (index, group) in draft.groups.enumerated() {
      var (generation, tag) = (group.current.generation, forged.sections[index].tag)
      for (entry, entryTag) in zip(draft.entries, forged.entryTags) where entry.group == index {
        generation += 1
        tag = entryTag
      }
      lines.append("group \(group.id.hexadecimal) \(group.epoch) \(generation) \(tag.hexadecimal)")
    }
  }
}
