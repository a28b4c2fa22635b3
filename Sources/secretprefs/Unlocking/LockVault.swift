internal import ArgumentParser
internal import DurableFiles

/// `secretprefs lock`.
struct LockVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Removes the key that \"unlock\" keeps.",
    usage: "secretprefs lock [<options>]",
    discussion: """
      Ends "secretprefs unlock" for the vault in this session, and for the user if its key was kept with --keyring \
      user, however its path is spelled, and for its copies. If no \
      key is kept, the command succeeds and says so. If the file is gone or is no vault any more, the key is found by \
      the path that "secretprefs unlock" was given. Commands that have already opened the vault are not interrupted.

      EXAMPLE:
        secretprefs lock
      """)

  @OptionGroup var vault: VaultOptions

  func perform(_ messages: Messages) throws {
    MemoryFolder.removeAbandoned()
    let place = try vault.access().location
    let removal = try KeptKey.remove(place)
    if removal.isRemoved { Output.recordChange(by: Self.self) }
    if vault.json {
      try Output.write(
        .object([
          ("vault", .string(place.name)), ("removed", .bool(removal.isRemoved)),
          ("keyrings", .array(removal.keyrings.map { .string($0.rawValue) })),
        ]))
    }
    guard !removal.isRemoved else { return }
    let isThere = place.path.map { ExaminedPath($0).status() != nil } ?? true
    let kind = place.path == nil ? "URL" : "path"
    messages.warn(
      (removal.isIdentified
        ? "no key of this vault was kept for this session or for the user"
        : (isThere ? "the vault cannot be read" : "there is no vault at this \(kind)")
          + ", and no key was kept for this \(kind) in this session or for the user")
        + "; nothing was removed"
        + (removal.others == 0 ? "" : ", and \(counted(removal.others, "other key is", "other keys are")) still kept"))
  }
}
