internal import ArgumentParser
internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// `secretprefs find`.
struct Find: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Finds keys by their name, label, comment or value.",
    usage: "secretprefs find [<options>] (<text> | --value -)",
    discussion: """
      Lists the keys that contain the text in their name, label or comment, whether in upper or lower case. With \
      --value - it lists the keys of text and data whose current value is exactly the one on standard input, which \
      is read as "secretprefs set" reads it; other users of the machine could see a value in an argument. The \
      values are compared in guarded memory and in constant time, and are never printed. A key that cannot be \
      decrypted makes the search fail. If nothing is found, the exit code is 1.

      EXAMPLE:
        secretprefs find deploy
        secretprefs find --value - --all-services < leaked-token.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Search all services; each line is service, tab, key.")
  var allServices = false

  @Flag(help: "Search all access groups; each line begins with the group and a tab.")
  var allGroups = false

  @Flag(help: "Also show revision, kind, time and expiry.")
  var long = false

  @Flag(help: "Find the keys with the value on standard input.")
  var value = false

  @Flag(help: "Keep a line ending at the end of the value.")
  var exact = false

  @Flag(help: "Accept an empty value.")
  var allowEmpty = false

  @Argument(help: ArgumentHelp("The text, or \"-\" after --value.", valueName: "text"))
  var texts: [String] = []

  func perform(_ messages: Messages) throws {
    let text = try Self.sole(texts, "text")
    guard !value || text == "-" else {
      throw ToolError.usage("values are not accepted in arguments", hint: Self.valueHint)
    }
    guard value || !exact && !allowEmpty else {
      throw ToolError.usage("--exact and --allow-empty need --value", hint: Self.usage)
    }
    guard !text.isEmpty else { throw Self.usageError("the text is empty") }
    try ScopeOptions.check(
      allServices: allServices, allGroups: allGroups, service: record.service, group: record.group)
    let listing = try KeyListing(isLong: long, isJSON: vault.json, namesServices: allServices, namesGroups: allGroups)
    let place = try record.place()
    let access = try unlock.complete(try vault.access())
    let source =
      value
      ? try ValueInput(
        file: nil, keepsLineEnd: exact, mayBeEmpty: allowEmpty, mayPrompt: access.mayPrompt,
        isInputTaken: access.passphraseDescriptor == STDIN_FILENO, hint: Self.valueHint) : nil
    let vault = try access.open(messages)
    let groups = try listing.groups(place, of: vault, messages)
    var found = try ListedRecord.all(service: allServices ? nil : place.service, in: groups, of: vault)
    if let source {
      found = try Self.records(found, with: try source.read(messages), of: vault)
    } else {
      let text = text.lowercased()
      found = found.filter { record in
        [record.info.key.text, record.info.label, record.info.comment].contains {
          $0?.lowercased().contains(text) ?? false
        }
      }
    }
    guard !found.isEmpty else {
      throw ToolError(
        VaultError(.notFound, "no key is found"),
        hint: "--all-services searches all services, and --all-groups all groups; --service and --group select "
          + "different ones")
    }
    try listing.write(found, of: vault, at: access.options.now())
  }

  private static let valueHint = "use standard input or a prompt: secretprefs find --value - < value.txt"

  private static func records(
    _ records: [ListedRecord], with value: borrowing SecretBytes, of vault: Vault
  ) throws(VaultError) -> [ListedRecord] {
    var found: [ListedRecord] = []
    for record in records where record.info.kind.isSearchable {
      let isEqual = try vault.withValue(of: record.info, in: record.group) { value.isEqual(to: $1) }
      if isEqual == true { found.append(record) }
    }
    return found
  }
}
