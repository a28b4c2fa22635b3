internal import ArgumentParser
internal import VaultCore

/// `secretprefs requests remove`.
struct RemoveRequest: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes requests for access.",
    usage: "secretprefs requests remove [<options>] <key>",
    discussion: """
      Removes all requests with this public key, of a database those that the role may remove, without granting \
      anything. Who cannot list the folder gives all digits of the public key. Access that was granted stays: see \
      "secretprefs help slots remove".

      EXAMPLE:
        secretprefs requests remove 8f40c5ad
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var request: RequestOptions

  @Argument(
    help: ArgumentHelp("The public key, or its first digits.", valueName: "key"), completion: .requests)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let choice = try RequestChoice(try Self.sole(keys, "public key"))
    let place = try request.place(of: try vault.access())
    let removed = try place.remove(try choice.find(in: try place.contents(for: choice)))
    Output.recordChange(by: Self.self)
    guard vault.json else { return }
    try Output.write(.object([("removed", .array(removed.map { .string($0) }))]))
  }
}
