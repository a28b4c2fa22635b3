internal import ArgumentParser
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// Which other owner slots go on when the vault gets new keys: those whose credentials are named.
struct KeepOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Keep the owner slot that this key file opens, too.",
      discussion: "Once for each slot. The one that unlocks the vault goes on by itself.", valueName: "file"))
  var keepKeyFile: [String] = []

  @Option(
    help: ArgumentHelp("Keep the owner slot of the passphrase on this descriptor, too.", valueName: "number"))
  var keepPassphraseFd: [Int32] = []

  @Flag(help: "Let the other owner slots go, whose credentials are not given.")
  var dropOthers = false

  var isEmpty: Bool { keepKeyFile.isEmpty && keepPassphraseFd.isEmpty && !dropOthers }

  /// Checks the descriptors before anything of ours can have their numbers.
  func check(besides access: VaultAccess) throws(ToolError) {
    for number in keepPassphraseFd { _ = try PassphraseDescriptor.check(number, of: "--keep-passphrase-fd") }
    try PassphraseDescriptor.checkDistinct(keepPassphraseFd + [access.passphraseDescriptor].compactMap(\.self))
  }

  /// Reads the credentials, and tries each: one that keeps nothing would be noticed too late. Other owner slots go only
  /// if that was said.
  ///
  /// - Parameters:
  ///   - slots: all that the vault has.
  ///   - removed: the slot that is to go, which no credential may keep.
  func credentials(
    for access: VaultAccess, slots: [SlotInfo], removing removed: Vault.Identifier? = nil
  ) throws -> [Vault.Credential] {
    let ways = keepKeyFile.map { Unlocking.keyFile($0) } + keepPassphraseFd.map { .passphraseDescriptor($0) }
    var kept: [Vault.Identifier] = []
    var credentials: [Vault.Credential] = []
    for way in ways {
      guard let credential = try way.credential() else { continue }
      let opened = try slot(of: credential, access)
      guard opened != removed else {
        throw ToolError.usage("a credential that is to be kept opens the slot that is to be removed")
      }
      if let opened { kept.append(opened) }
      credentials.append(credential)
    }
    let others = slots.filter { $0.isOwner && !$0.isCurrent && $0.id != removed && !kept.contains($0.id) }
    guard others.isEmpty || dropOthers else {
      throw ToolError.usage(
        others.map { "slot \($0.shortID)" }.joined(separator: ", ") + " would be gone: no credential of it is given",
        hint: "--keep-key-file or --keep-passphrase-fd keeps one, --drop-others lets them go")
    }
    return credentials
  }

  private func slot(of credential: Vault.Credential, _ access: VaultAccess) throws -> Vault.Identifier? {
    do throws(VaultError) {
      let vault = try Vault.open(at: access.location.path, credential: credential, options: access.options)
      return try vault.slots().first(where: \.isCurrent)?.id
    } catch {
      guard [.credentialRejected, .ownerRequired].contains(error.code) else { throw error }
      throw ToolError(
        error, message: "a credential that is to be kept opens no owner slot",
        hint: "\"secretprefs slots list\" shows the slots; those of groups go on by themselves")
    }
  }
}
