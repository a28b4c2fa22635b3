internal import VaultCore

/// The operation of `rename`, `copy` and `move`.
struct CopyOperation {
  let command: any WritingCommand.Type
  let isMove: Bool
  let key: String
  /// `nil` for the same one.
  let newKey: String?
  /// The service of the new name; `nil` for the same one.
  var newService: String?
  /// The access group of the new name; `nil` for the same one.
  var newGroup: String?
  /// Whether the new name may be a reference.
  var takesReference = true
  let options: CopyOptions

  /// Where the copy will be.
  private struct Target {
    let service: Vault.Name
    let key: Vault.Name
    /// The place that names a different group; `nil` for the same group.
    let place: RecordPlace?
  }

  func perform(
    _ access: VaultAccess, _ record: RecordOptions, isJSON: Bool, _ messages: Messages
  ) throws {
    let (place, key) = try record.named(key)
    let old = try Vault.Name(key)
    let target = try target(place, old)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let newGroup = try target.place.map { try $0.group(in: vault) } ?? group
    guard target.key != old || target.service != place.service || newGroup.id != group.id else {
      throw ToolError.usage("the new name is the same as the old one")
    }
    let replaced =
      try options.replace ? vault.record(service: target.service, key: target.key.text, in: newGroup) : nil
    try RotationMark.refuse(replaced)
    let wanted = newGroup.id == group.id ? try values(old, target, replaced, of: vault, in: group, place) : 0
    let note = VariableName.note(onNew: target.key.text) { replaced != nil }
    do throws(VaultError) {
      if newGroup.id == group.id {
        try vault.copy(
          key, of: place.service, to: target.key.text, of: target.service, in: group, isMove: isMove,
          replaces: options.replace, ifRevision: options.ifRevision)
      } else {
        try copy(old, place, target, vault, group, newGroup, messages)
      }
    } catch {
      switch error.code {
      case .notFound: throw try place.noSuchKey(key, in: group, of: vault)
      case .alreadyExists:
        throw ToolError(
          error, message: "a key with the new name exists",
          hint: "--replace replaces it; its values become earlier ones")
      default: throw error
      }
    }
    vault.recordChange(by: command, messages)
    if let note { messages.tell(note) }
    // The change is durable, whatever becomes of this.
    do throws(VaultError) { try tellDropped(wanted, target, of: vault, in: group, messages) } catch {
      messages.warn("earlier values may be gone: \(displayed(error.message))")
    }
    guard isJSON else { return }
    try Output.write(
      .object([
        ("service", .string(target.service.text)), ("key", .string(target.key.text)),
        ("group", .string(newGroup.name.text)),
        (
          "from",
          .object([
            ("service", .string(place.service.text)), ("key", .string(old.text)), ("group", .string(group.name.text)),
          ])
        ),
      ]))
  }

  /// The number of earlier values that the copy has if it keeps all: those of the key, and those of a key that it
  /// replaces, or that was removed and had its name.
  private func values(
    _ key: Vault.Name, _ target: Target, _ replaced: RecordInfo?, of vault: Vault, in group: AccessGroup,
    _ place: RecordPlace
  ) throws -> Int {
    let own = try vault.record(service: place.service, key: key.text, in: group)?.previous.count ?? 0
    if let replaced { return own + replaced.previous.count + 1 }
    return try own
      + (vault.removedRecord(service: target.service, key: target.key.text, in: group)?.previous.count ?? 0)
  }

  private func tellDropped(
    _ wanted: Int, _ target: Target, of vault: Vault, in group: AccessGroup, _ messages: Messages
  ) throws(VaultError) {
    guard wanted > 0, let made = try vault.record(service: target.service, key: target.key.text, in: group),
      made.previous.count < wanted
    else { return }
    let dropped = counted(wanted - made.previous.count, "earlier value is", "earlier values are")
    messages.tell("\(dropped) gone: the key keeps \(made.previous.count)")
  }

  private func target(_ place: RecordPlace, _ old: Vault.Name) throws -> Target {
    guard let newKey, let reference = try SecretReference(argument: newKey) else {
      let service = try newService.map { (name) throws(VaultError) in try Vault.Name(name) } ?? place.service
      return Target(
        service: service, key: try newKey.map { (name) throws(VaultError) in try Vault.Name(name) } ?? old,
        place: try newGroup.map { try RecordPlace(service: service.text, group: $0) })
    }
    guard takesReference else {
      throw ToolError.usage("the new name is a reference", hint: "name the key alone, or use \"secretprefs move\"")
    }
    guard newService == nil, newGroup == nil else {
      throw ToolError.usage(
        "a reference names its service and group", hint: "omit --to-service and --to-group, or name the key alone")
    }
    return Target(service: reference.service, key: try Vault.Name(reference.key), place: try reference.place)
  }

  /// Copies to a different access group, and then removes the original of a move.
  private func copy(
    _ key: Vault.Name, _ place: RecordPlace, _ target: Target, _ vault: Vault, _ group: AccessGroup,
    _ newGroup: AccessGroup, _ messages: Messages
  ) throws(VaultError) {
    guard let record = try vault.record(service: place.service, key: key.text, in: group) else {
      throw VaultError(.notFound, "there is no such record")
    }
    guard options.ifRevision == nil || options.ifRevision == record.revision else {
      throw VaultError(.conflict, "the record does not have the expected revision")
    }
    try RotationMark.refuse(record)
    let copy = GroupCopy(
      vault: vault, record: record, group: group, service: target.service, key: target.key, newGroup: newGroup)
    let isMade = isMove && !options.replace ? try copy.isMade() : false
    if !isMade { try copy.copy(replaces: options.replace) }
    Output.recordChange(by: command)
    if isMove { try copy.removeOriginal() }
    guard !record.previous.isEmpty else { return }
    messages.tell(
      "\(counted(record.previous.count, "earlier value is", "earlier values are")) not copied to the access group"
        + (isMove ? ", and kept with the removed key for 30 days" : ""))
  }
}
