internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots remove`.
struct RemoveSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes an unlock slot and rotates the keys it had access to.",
    usage: "secretprefs slots remove [<options>] <id>",
    discussion: """
      Removing an owner slot replaces all keys of the vault: give the credentials of the other owner slots to keep, \
      and --drop-others to remove the rest; group slots are kept. Removing a group slot replaces the key of that group \
      and keeps its other slots. Older copies of the file still open with the removed credential: if it leaked, change \
      the secrets themselves and, for an owner slot, the credentials of the groups. The last owner slot cannot be \
      removed.

      EXAMPLE:
        secretprefs slots remove 5f0c9a
        secretprefs slots remove 5f0c9a --keep-key-file ~/backup.key
        secretprefs slots remove 5f0c9a --keep-passphrase-fd 3 3< other.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var keep: KeepOptions

  @Flag(help: "Do not rotate keys: the credential still works together with an older copy of the file.")
  var withoutRotation = false

  @Argument(help: ArgumentHelp("The slot's id, or a unique prefix of it.", valueName: "id"), completion: .slots)
  var ids: [String] = []

  func perform(_ messages: Messages) throws {
    let id = try Self.sole(ids, "id")
    let choice = try SlotChoice(id)
    guard !withoutRotation || keep.isEmpty else {
      throw ToolError.usage(
        "--without-rotation keeps all other slots", hint: "omit the --keep options and --drop-others")
    }
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("rotating", messages)
    try keep.check(besides: access)
    let (vault, credential) = try access.openKeepingCredential(messages)
    let slots = try vault.slots()
    let slot = try choice.find(in: slots)
    let report = withoutRotation ? try remove(slot, from: vault) : try rotate(slot, of: vault, credential)
    warn(slot, others: slots.filter { $0.id != slot.id }, messages)
    report?.warnOfDroppedSlots(messages)
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("removed", .string(slot.id.description)), ("rotated", .bool(!withoutRotation)),
        ("dropped", report?.json ?? .array([])),
      ]))
  }

  private func remove(_ slot: SlotInfo, from vault: Vault) throws(VaultError) -> RotationReport? {
    try vault.removeSlotWithoutRotation(slot.id)
    return nil
  }

  private func rotate(
    _ slot: SlotInfo, of vault: Vault, _ credential: Vault.Credential
  ) throws -> RotationReport {
    guard slot.isOwner || keep.isEmpty else {
      throw ToolError.usage(
        "removing a group slot keeps all other slots", hint: "omit the --keep options and --drop-others")
    }
    guard slot.isOwner else { return try vault.removeSlot(slot.id) }
    return try vault.removeSlot(
      slot.id, keeping: try keep.credentials(for: vault, unlockedWith: credential, removing: slot.id),
      droppingOthers: keep.dropOthers)
  }

  private func warn(_ slot: SlotInfo, others: [SlotInfo], _ messages: Messages) {
    if withoutRotation {
      messages.warn("no key was rotated: the removed credential and a copy of the file still give access")
    } else {
      messages.warn("older copies of the file still open with the removed credential")
    }
    let others = slot.isOwner && others.contains { $0.group != nil } ? " and the groups' credentials" : ""
    messages.warn("if the credential leaked, change the secrets themselves\(others)")
  }
}
