internal import ArgumentParser
internal import Secrets
internal import VaultCore

/// `secretprefs requests add`.
struct AddRequest: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Asks an owner for access for an identity.",
    usage: "secretprefs requests add [<options>]",
    discussion: """
      Writes the public key of the identity, with the note, to the folder of requests or the table of the database, \
      and prints the public key, which an owner compares. The vault does not have to be readable, or to exist. A \
      second request with the same identity replaces the first one.

      EXAMPLE:
        secretprefs requests add --identity /etc/shop/shop.identity --note "web1, rack 4"
        secretprefs requests add --folder /srv/share/shop.requests
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var request: RequestOptions

  @Option(
    help: ArgumentHelp(
      "The identity file.", discussion: "Default: $SECRETPREFS_IDENTITY_FILE.", valueName: "file"),
    completion: .file())
  var identity: String?

  @Option(help: ArgumentHelp("What an owner needs to know, in one line. Not secret.", valueName: "text"))
  var note = ""

  func perform(_ messages: Messages) throws {
    let access = try vault.access()
    let place = try request.place(of: access)
    guard note.utf8.count <= VaultIdentity.longestNote else {
      throw ToolError.usage("a note must have at most \(VaultIdentity.longestNote) bytes")
    }
    guard !note.unicodeScalars.contains(where: isMisleading) else {
      throw ToolError.usage("a note must be one line of printable characters")
    }
    try refuseDash(reading: identity, as: "--identity")
    guard let path = try identity ?? VaultLocation.variable("SECRETPREFS_IDENTITY_FILE") else {
      throw ToolError.usage(
        "no identity is named", hint: "name its file with --identity; \"secretprefs identity new\" creates one")
    }
    let publicKey = try IdentityFile(at: path).identity.publicKey
    let added = try place.add(publicKey, note: note)
    Output.recordChange(by: Self.self)
    if let remark = added.remark { messages.tell(remark) }
    guard vault.json else { return try Output.write("\(publicKey)\n") }
    try Output.write(.object([("publicKey", .string("\(publicKey)")), ("request", .string(added.name))]))
  }
}
