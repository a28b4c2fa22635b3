internal import VaultCore

/// The operation of `rename`, `copy` and `move`.
struct CopyRecord {
  let command: any WritingCommand.Type
  let isMove: Bool
  let key: String
  /// `nil` for the same one.
  let newKey: String?
  /// The service of the new name; `nil` for the same one.
  var newService: String?
  let options: CopyOptions

  func perform(
    _ access: VaultAccess, _ record: RecordOptions, isJSON: Bool, _ messages: Messages
  ) throws {
    let (place, key) = try record.named(key)
    let newKey = newKey ?? key
    guard !SecretReference.isMeant(newKey.utf8) else {
      throw ToolError.usage("the new name is a reference", hint: "name the key alone")
    }
    let (old, new) = (try Vault.Name(key), try Vault.Name(newKey))
    let service = try newService.map { (name) throws(VaultError) in try Vault.Name(name) } ?? place.service
    guard old != new || service != place.service else {
      throw ToolError.usage("the new name is the same as the old one")
    }
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let note = try VariableName.note(onNew: newKey) {
      try options.replace && vault.record(service: service, key: newKey, in: group) != nil
    }
    do throws(VaultError) {
      try vault.copy(
        key, of: place.service, to: newKey, of: service, in: group, isMove: isMove, replaces: options.replace,
        ifRevision: options.ifRevision)
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
    guard isJSON else { return }
    try Output.write(
      .object([
        ("service", .string(service.text)), ("key", .string(new.text)),
        ("from", .object([("service", .string(place.service.text)), ("key", .string(old.text))])),
      ]))
  }
}
