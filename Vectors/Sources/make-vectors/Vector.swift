/// One file of the set: how it is made, and what a reader must make of it.
struct Vector {
  /// What readers must answer. Who is not named opens the file and finds what the draft holds.
  enum Outcome {
    case opens
    /// Refused without any key, and so by everybody.
    case refused(Refusal)
    /// Right for those who have no key, refused to those who open a slot.
    case sealed(Refusal)
    /// By the attempts' names.
    case each([String: Refusal])

    static func owner(_ refusal: Refusal) -> Outcome { .each(["owner": refusal]) }
  }

  let name: String
  let about: String
  let outcome: Outcome
  private let base: (String) -> Draft
  private let change: (inout Draft) -> Void

  init(
    _ name: String, _ about: String, _ outcome: Outcome, from base: @escaping (String) -> Draft = Draft.small,
    _ change: @escaping (inout Draft) -> Void
  ) {
    (self.name, self.about, self.outcome, self.base, self.change) = (name, about, outcome, base, change)
  }

  var fileName: String { name + ".spv" }

  /// The file, and its part of the manifest.
  func made() -> (file: Bytes, json: JSON) {
    var draft = base("SPV1 " + name)
    change(&draft)
    let forged = draft.forged()
    let contents = Contents(draft, forged)
    let json = JSON.object([
      ("file", .text(fileName)), ("about", .text(about)),
      ("blake2b256", .text(Sealing.hash(32, forged.file).hexadecimal)),
      ("no_key", expectationWithoutKey(contents)),
      ("open", .list(draft.attempts.map { opening($0, contents) })),
    ])
    return (forged.file, json)
  }

  private func expectationWithoutKey(_ contents: Contents) -> JSON {
    if case .refused(let refusal) = outcome { return Self.error(refusal) }
    return contents.withoutKey
  }

  private func opening(_ attempt: Attempt, _ contents: Contents) -> JSON {
    var members = [("credential", attempt.credential.json)]
    switch attempt.deviceKey {
    case .usual: break
    case .none: members.append(("device_key", .text("none")))
    case .other(let key): members.append(("device_key", .text(Sealing.text(ofKey: key))))
    }
    if let refusal = refusal(of: attempt) {
      members.append(("expect", Self.error(refusal)))
    } else {
      members.append(("expect", contents.seen(by: attempt)))
      let refused = attempt.refusedGroups.map { ($0, JSON.text(Refusal.groupNotGranted.rawValue)) }
      if !refused.isEmpty { members.append(("refused_groups", .object(refused))) }
    }
    return .object(members)
  }

  private func refusal(of attempt: Attempt) -> Refusal? {
    switch outcome {
    case .opens: nil
    case .refused(let refusal), .sealed(let refusal): refusal
    case .each(let refusals): refusals[attempt.name]
    }
  }

  private static func error(_ refusal: Refusal) -> JSON { .object([("error", .text(refusal.rawValue))]) }
}
