internal import ArgumentParser
internal import VaultCore

/// `secretprefs edit`.
struct EditRecord: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Changes the metadata of a key, or its value in an editor.",
    usage: "secretprefs edit [<options>] <key>",
    discussion: """
      Metadata is the label, the comment, attributes, the expiry and the number of earlier values to keep. \
      Metadata that no option names does not change. It is sealed in the vault, but other users of the machine \
      can see the arguments while the command runs: do not put a secret there. "secretprefs info" shows the metadata.

      With --value the value, which must be text, is opened in the editor of $VISUAL or $EDITOR. The file is in a \
      directory that only you can open, on a file system in memory: that of $XDG_RUNTIME_DIR, or /dev/shm. Without one \
      the command fails. The system may swap such memory out. The directory is removed with everything that the editor \
      has written there, or by the next such command if this one is killed. A changed value is saved, without a line \
      ending that only the editor has added, after a confirmation that shows the lengths, if no other process has \
      changed the key. As with "secretprefs set", the expiry is removed. If saving fails, the command asks whether to \
      edit or save again; without a terminal, and if the editor is killed, it keeps what was edited in that memory and \
      names the file, which you remove. An editor that ends with a code other than 0, as vi does after :cq, discards \
      what was edited.

      The words of the variable are those that a shell would read, but no shell runs. vi, vim and nvim get arguments \
      with which they write no viminfo or shada, swap, undo and backup file; a vimrc can still copy the file itself, \
      or name another directory in an autocommand. Other editors do as they are \
      configured: nano and emacs put backups and copies beside the file, where they are removed, unless a setting \
      names another directory (backupdir; backup-directory-alist, auto-save-file-name-transforms); nano can log \
      searches; nvi keeps a recovery file in /var/tmp/vi.recover. An editor with a window of its own must wait until \
      that is closed (code --wait).

      EXAMPLE:
        secretprefs edit github --label "deploy token" --expiry 90d
        secretprefs edit github --attribute owner=ops --no-comment
        secretprefs edit github --history 5
        secretprefs edit github --value
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions
  @OptionGroup var metadata: MetadataOptions

  @Flag(help: "Edit the value.")
  var value = false

  @Flag(help: "Save the edited value without confirmation.")
  var yes = false

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    guard value || !yes else { throw ToolError.usage("--yes has no effect without --value") }
    if value { return try editValue(of: key, place, messages) }
    guard !metadata.isEmpty else {
      throw ToolError.usage("no change is given", hint: "\"secretprefs help edit\" lists the options")
    }
    let access = try unlock.complete(try vault.access())
    let name = try Vault.Name(key)
    let change = try MetadataChange(metadata, now: access.options.now(), messages)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let (edit, revision) = try change.resolved { () throws(VaultError) in
      try vault.record(service: place.service, key: key, in: group)
    }
    do throws(VaultError) {
      try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
        try batch.edit(key, edit, ifRevision: revision)
      }
    } catch {
      guard error.code == .notFound else { throw error }
      throw try place.noSuchKey(key, in: group, of: vault)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return }
    try Output.write(.object([("service", .string(place.service.text)), ("key", .string(name.text))]))
  }

  private func editValue(of key: String, _ place: RecordPlace, _ messages: Messages) throws {
    guard metadata.isEmpty else {
      throw ToolError.usage("--value cannot be used together with changes of the metadata", hint: "use two commands")
    }
    try EditValue(
      access: try unlock.complete(try vault.access()), place: place, key: key,
      revision: metadata.ifRevision, isConfirmed: yes, isJSON: vault.json
    ).perform(messages)
  }
}
