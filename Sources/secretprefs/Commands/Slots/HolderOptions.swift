internal import ArgumentParser
internal import VaultCore

/// The public key of a holder, as the new credential of a slot.
struct HolderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Give access to the identity with this public key.",
      discussion: "With \"-\", the public key is read from standard input.", valueName: "text"))
  var publicKey: String?

  /// Checks that the slot has one credential.
  func check(besides credential: NewCredentialOptions) throws(ToolError) {
    guard publicKey == nil || (credential.newKeyFile == nil && credential.passphrase.newPassphraseFd == nil) else {
      throw .usage(
        "--public-key cannot be used together with --new-key-file or --new-passphrase-fd",
        hint: "a slot has one credential")
    }
    if publicKey != nil { try credential.passphrase.refuseFlags() }
  }

  /// Reads the public key.
  func key() throws -> VaultIdentity.PublicKey? {
    try publicKey.map { try PublicText.publicKey($0) }
  }

  static func check(label: String) throws(ToolError) {
    guard label.utf8.count <= 1024 else { throw .usage("a label must have at most 1024 bytes") }
  }

  /// Prints the pin, which the identity needs for its new slots.
  ///
  /// - Parameters:
  ///   - others: the slots of the vault before the change, without one that was replaced.
  ///   - members: what `--json` prints before the public key and the pin; `nil` without it.
  static func writePin(
    of vault: Vault, for publicKey: VaultIdentity.PublicKey, besides others: [SlotInfo], _ members: [(String, JSON)]?,
    _ messages: Messages
  ) throws {
    let present = Set(try vault.loadedSlots().map(\.id))
    if others.contains(where: { $0.publicKey == publicKey && !present.contains($0.id) }) {
      messages.warn("the holder has slots that opened with a former pin: all of its slots now need this one")
    }
    let pin = try vault.loadedPin()
    guard let members else { return try Output.write("\(pin)\n") }
    try Output.write(
      .object(members + [("publicKey", .string("\(publicKey)")), ("pin", .string("\(pin)"))]))
  }

  /// Adds what a user can do about the errors of a write.
  static func store<Result>(_ write: () throws(VaultError) -> Result) throws -> Result {
    do throws(VaultError) { return try write() } catch {
      let hint: String? =
        switch error.code {
        case .alreadyExists:
          "\"secretprefs slots list\" shows it; \"secretprefs slots replace\" makes it anew for the present pin"
        case .limitExceeded: "remove a slot that is not needed"
        case .invalidKeyText: "\"secretprefs identity show\" prints the public key of an identity"
        default: nil
        }
      throw ToolError(error, hint: hint)
    }
  }
}
