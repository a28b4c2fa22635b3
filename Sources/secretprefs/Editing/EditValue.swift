internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The operation of `edit --value`.
struct EditValue: ToolAction {
  let access: VaultAccess
  let place: RecordPlace
  let key: String
  /// The revision that the record must have. `nil` for any.
  let revision: UInt64?
  let isConfirmed: Bool
  let isJSON: Bool

  func perform(_ messages: Messages) throws {
    // Fails before the user edits in vain.
    guard isConfirmed || access.mayPrompt && ControllingTerminal.exists else {
      throw ToolError.usage("there is no terminal to confirm the change on", hint: "--yes saves without a question")
    }
    let editor = try Editor()
    let vault = try access.open(messages)
    if let descriptor = access.passphraseDescriptor { try PassphraseDescriptor.withhold(descriptor) }
    let group = try place.group(in: vault)
    let record = try place.existing(key, in: group, of: vault)
    guard record.kind.isText else {
      throw ToolError(
        VaultError(.typeMismatch, "the value is not text"), hint: "\"secretprefs set\" stores a new value")
    }
    guard revision == nil || revision == record.revision else {
      throw VaultError(.conflict, "the record does not have the expected revision")
    }
    let (folder, count, endsLine) = try vault.withShownValue(of: record, in: group) { _, bytes in
      (try MemoryFolder(bytes), bytes.count, bytes.last == UInt8(ascii: "\n"))
    }
    let value = try Self.edited(folder, by: editor, endsLine: endsLine)
    let isChanged = try vault.withShownValue(of: record, in: group) { _, bytes in
      value.withUnsafeBytes { !$0.elementsEqual(bytes) }
    }
    if isChanged {
      try save(value, insteadOf: count, record, in: group, of: vault)
      vault.recordChange(by: EditRecord.self, messages)
    } else {
      messages.note("the value is as it was; nothing was changed")
    }
    guard isJSON else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(record.key.text)), ("changed", .bool(isChanged)),
        ("bytesBefore", .unsigned(UInt64(count))), ("bytes", .unsigned(UInt64(value.count))),
      ]))
  }

  /// Runs the editor and returns what it has saved. The file is gone when this returns.
  ///
  /// - Parameter endsLine: Whether the value ends with a line feed. Otherwise the one that editors add is removed.
  private static func edited(
    _ folder: consuming MemoryFolder, by editor: Editor, endsLine: Bool
  ) throws -> SecretBytes {
    try editor.edit(folder.file)
    let text = try folder.content()
    let isExtended = !endsLine && text.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
    let count = text.count
    return isExtended ? try text.prefix(count - 1) : text
  }

  private func save(
    _ value: borrowing SecretBytes, insteadOf count: Int, _ record: RecordInfo, in group: AccessGroup, of vault: Vault
  ) throws {
    guard value.count > 0 else {
      throw ToolError.usage(
        "the edited value is empty; nothing was changed",
        hint: "\"secretprefs set --allow-empty\" stores an empty value")
    }
    let change = "from \(counted(count, "byte", "bytes")) to \(counted(value.count, "byte", "bytes"))"
    if !isConfirmed {
      try Prompt.confirm(
        "Change the value of \(displayed(key)) \(change)?", otherwise: "the value would change \(change)",
        mayPrompt: access.mayPrompt)
    }
    do throws(VaultError) {
      _ = try value.withSpan { (bytes) throws(VaultError) in
        try vault.update(service: place.service, in: group) { (batch) throws(VaultError) in
          try batch.set(bytes, kind: record.kind, forKey: key, ifRevision: record.revision)
        }
      }
    } catch {
      switch error.code {
      case .conflict:
        throw ToolError(error, message: "another process has changed the key; the edited value was not saved")
      case .typeMismatch:
        throw ToolError(error, message: "the edited value is not valid; nothing was changed", hint: "save it as UTF-8")
      default: throw error
      }
    }
  }
}
