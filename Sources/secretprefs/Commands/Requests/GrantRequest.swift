internal import ArgumentParser
internal import VaultCore

/// `secretprefs requests grant`.
struct GrantRequest: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant",
    abstract: "Gives access to the public key of a request.",
    usage: "secretprefs requests grant [<options>] (--for-group <name> ... | --owner) <key>",
    discussion: """
      Shows the request with all digits of its public key, and asks for confirmation: compare them with those that \
      "secretprefs identity show" shows to the holder. Then adds the slots, as "secretprefs slots add" does, in one \
      write, and removes the request once they are stored. Prints the pin of the vault, for the holder.

      The first digits of the public key are enough to select a request on a terminal. Without one, give all digits, \
      as you got them from the holder, and --yes.

      EXAMPLE:
        secretprefs requests grant 8f40c5ad --for-group billing --label web1
        secretprefs requests grant spv-public-1:8f40... --for-group billing --for-group mail --yes > shop.pin
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var request: RequestOptions

  @Option(
    help: ArgumentHelp("Open this access group.", discussion: "May be repeated.", valueName: "name"),
    completion: .groups)
  var forGroup: [String] = []

  @Flag(help: "Open the whole vault.")
  var owner = false

  @Option(
    help: ArgumentHelp(
      "A label for the slots, which is sealed in the vault.", discussion: "The note is not stored.", valueName: "text"))
  var label = ""

  @Flag(help: "Grant without confirmation. Needs all digits of the public key.")
  var yes = false

  @Argument(
    help: ArgumentHelp("The public key, or its first digits.", valueName: "key"), completion: .requests)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let choice = try RequestChoice(try Self.sole(keys, "public key"))
    guard forGroup.isEmpty == owner else {
      throw ToolError.usage("what is granted must be named", hint: "use either --for-group or --owner")
    }
    guard Set(forGroup).count == forGroup.count else { throw ToolError.usage("an access group is named twice") }
    guard choice.isWhole || !yes else {
      throw ToolError.usage(
        "--yes needs all digits of the public key", hint: "take them from the holder, and not from the request")
    }
    try HolderOptions.check(label: label)
    let access = try unlock.complete(try vault.access()).withoutKeptKey
    let place = try request.place(of: access)
    let requests = try choice.find(in: try place.contents())
    let publicKey = requests[0].publicKey
    let vault = try access.open(messages)
    let others = try vault.slots()  // fails for a group holder, before a question
    let groups = try forGroup.map { try vault.grantedGroup($0) }
    if !yes {
      do { try confirm(requests, access) } catch let error as ToolError where error.status == .usage {
        throw choice.isWhole ? error : error.with(hint: Self.withoutTerminal)
      }
    }
    let ids = try HolderOptions.store { () throws(VaultError) in
      try vault.addSlots(for: publicKey, label: label, granting: groups)
    }
    vault.recordChange(by: Self.self, messages)
    removeRequests(requests, from: place, messages)
    messages.tell(
      ids.count == 1 ? "the slot is \(ids[0])" : "the slots are \(ids.map(\.description).joined(separator: ", "))")
    let members = [("ids", JSON.array(ids.map { .string($0.description) }))]
    try HolderOptions.writePin(
      of: vault, for: publicKey, besides: others, self.vault.json ? members : nil, messages)
  }

  private static let withoutTerminal =
    "without a terminal, give all digits of the public key, as the holder sees them, and --yes"

  private func confirm(_ requests: [Request], _ access: VaultAccess) throws {
    let scope = owner ? "the whole vault" : "access group \(forGroup.map(displayed).joined(separator: ", "))"
    let lines = requests.map { request in
      "  from \(request.origin.text), \(Timestamp.text(of: request.time))"
        + (request.note.isEmpty ? "" : ", note: \(displayed(request.note))") + "\n"
    }
    try Prompt.confirm(
      "\(requests[0].publicKey)\n\(lines.joined())Are these all the digits that the holder sees with \"secretprefs "
        + "identity show\", and may it open \(scope)?",
      otherwise: "the public key would get access", mayPrompt: access.mayPrompt)
  }

  /// The access is granted, whatever becomes of the requests.
  private func removeRequests(_ requests: [Request], from place: any RequestPlace, _ messages: Messages) {
    do { _ = try place.remove(requests) } catch {
      messages.warn("access is granted, but the request remains: \(displayed(ToolError(thrown: error).message))")
    }
  }
}
