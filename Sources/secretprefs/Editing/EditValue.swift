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
    let mayAsk = access.mayPrompt && revision == nil
    let (session, count) = try vault.withShownValue(of: record, in: group) { _, bytes in
      (try EditSession(bytes, of: record.key.text, editor, mayAsk: mayAsk, messages), bytes.count)
    }
    // After a conflict, which the user has seen, the newer value is replaced.
    var expected = record
    let (newCount, isChanged) = try session.run { value in
      do { try save(value, insteadOf: count, expected, in: group, of: vault) } catch {
        // If it was removed meanwhile, saving again fails in the same way.
        if mayAsk { do { expected = try place.existing(key, in: group, of: vault) } catch {} }
        throw error
      }
    }
    if isChanged {
      vault.recordChange(by: EditRecord.self, messages)
    } else {
      messages.note("the value is as it was; nothing was changed")
    }
    guard isJSON else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(record.key.text)), ("changed", .bool(isChanged)),
        ("bytesBefore", .unsigned(UInt64(count))), ("bytes", .unsigned(UInt64(newCount))),
      ]))
  }

  private func save(
    _ value: borrowing SecretBytes, insteadOf count: Int, _ record: RecordInfo, in group: AccessGroup, of vault: Vault
  ) throws {
    guard value.count > 0 else {
      throw ToolError.usage(
        "the edited value is empty; nothing was changed",
        hint: "\"secretprefs set --allow-empty\" stores an empty value")
    }
    guard try value.withSpan({ (text) throws(VaultError) in try TypedText.kind(record.kind, of: text) }) != nil else {
      throw TypedValue.refusal(of: "the edited value", record.kind, "; nothing was changed")
    }
    let change = "from \(counted(count, "byte", "bytes")) to \(counted(value.count, "byte", "bytes"))"
    if !isConfirmed {
      try Prompt.confirm(
        "Change the value of \(displayed(key)) \(change)?", otherwise: "the value would change \(change)",
        mayPrompt: access.mayPrompt, unclear: .unanswered)
    }
    do throws(VaultError) {
      _ = try value.withSpan { (bytes) throws(VaultError) in
        try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
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
