/// What a reader must find in a vault that opens, told from the draft alone.
struct Contents {
  private let draft: Draft
  private var states: [GroupState]
  private let entryCount: Int
  private let hasTornTail: Bool

  init(_ draft: Draft, _ forged: Forged) {
    self.draft = draft
    states = zip(draft.groups, forged.sections).map { group, sealed in
      let section = group.current
      var state = GroupState(
        name: section.name ?? group.name, epoch: group.epoch, generation: section.generation, tag: sealed.tag)
      for record in section.records { state.put(record, revision: record.revision ?? section.generation) }
      return state
    }
    let whole = draft.entries.filter { !$0.isTorn }
    for (entry, tag) in zip(draft.entries, forged.entryTags) where !entry.isTorn {
      Self.apply(entry, tag, to: &states[entry.group])
    }
    entryCount = whole.count
    hasTornTail = draft.hasTornReserve || whole.count < draft.entries.count
  }

  private static func apply(_ entry: Entry, _ tag: Bytes, to state: inout GroupState) {
    state.generation &+= 1
    state.tag = tag
    for change in entry.changes {
      switch change {
      case .put(let record): state.put(record, revision: state.generation)
      case .remove(let service, let key): state.remove(service: service, key: key)
      case .other: break
      }
    }
  }

  var withoutKey: JSON { Findings.withoutKey(entryCount: entryCount, hasTornTail: hasTornTail) }

  func seen(by attempt: Attempt) -> JSON {
    let isOwner: Bool
    let visible: [GroupState]
    switch attempt.view {
    case .owner: (isOwner, visible) = (true, states)
    case .holder(let groups): (isOwner, visible) = (false, groups.map { states[$0] })
    case .none: preconditionFailure("who opens no slot sees nothing")
    }
    return Findings(
      isOwner: isOwner, vaultGeneration: draft.generation, hasTornTail: hasTornTail, entryCount: entryCount,
      groups: visible
    ).json(deviceRefusal: attempt.valueRefusal)
  }
}
