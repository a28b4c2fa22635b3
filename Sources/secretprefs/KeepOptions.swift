internal import ArgumentParser
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// The credentials of the other owner slots to keep when the vault gets new keys.
struct KeepOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Also keep the owner slot that this key file opens.",
      discussion: "May be repeated. The slot that unlocks the vault is always kept.", valueName: "file"),
    completion: .file())
  var keepKeyFile: [String] = []

  @Option(
    help: ArgumentHelp("Also keep the owner slot of the passphrase on this descriptor.", valueName: "number"))
  var keepPassphraseFd: [Int32] = []

  @Flag(help: "Remove the other owner slots whose credentials are not given.")
  var dropOthers = false

  var isEmpty: Bool { keepKeyFile.isEmpty && keepPassphraseFd.isEmpty && !dropOthers }

  /// Checks the paths, and the descriptors before this process opens files that could get the same numbers.
  func check(besides access: VaultAccess) throws(ToolError) {
    for path in keepKeyFile { try refuseDash(reading: path, as: "--keep-key-file") }
    for number in keepPassphraseFd { _ = try PassphraseDescriptor.check(number, of: "--keep-passphrase-fd") }
    try PassphraseDescriptor.checkDistinct(keepPassphraseFd + [access.passphraseDescriptor].compactMap(\.self))
  }

  /// Reads the credentials and tries each one, before a wrong credential can cost its slot.
  ///
  /// - Parameters:
  ///   - current: The credential that unlocked the vault, which may open other slots as well.
  ///   - removed: The slots to remove, which no credential may keep.
  /// - Throws: ``ToolError`` if an owner slot would be removed without `--drop-others`.
  func credentials(
    for vault: Vault, unlockedWith current: Vault.Credential, removing removed: Set<Vault.Identifier> = []
  ) throws -> [Vault.Credential] {
    let ways = keepKeyFile.map { Unlocking.keyFile($0) } + keepPassphraseFd.map { .passphraseDescriptor($0) }
    // An owner by public key gets a new slot without its credential.
    var others = try vault.slots().filter {
      $0.isOwner && !$0.isCurrent && !removed.contains($0.id) && $0.publicKey == nil
    }
    var credentials: [Vault.Credential] = []
    for way in ways {
      let credential = try way.configuredCredential()
      let opened = try slots(of: credential, vault)
      guard !opened.isSubset(of: removed) else {
        throw ToolError.usage("a --keep option names the credential of the slot to remove")
      }
      others.removeAll { opened.contains($0.id) }
      credentials.append(credential)
    }
    if !others.isEmpty {
      // Two slots may have the same passphrase.
      let opened = try slots(of: current, vault)
      others.removeAll { opened.contains($0.id) }
      credentials.append(current)
    }
    guard others.isEmpty || dropOthers else {
      throw ToolError.usage(
        others.map { "slot \($0.id.short)" }.joined(separator: ", ") + " would be removed: no credential is given",
        hint: "--keep-key-file and --keep-passphrase-fd keep a slot, --drop-others removes the rest")
    }
    return credentials
  }

  private func slots(of credential: Vault.Credential, _ vault: Vault) throws -> Set<Vault.Identifier> {
    do throws(VaultError) {
      let opened = try vault.ownerSlots(openedBy: credential)
      guard opened.isEmpty else { return opened }
      throw VaultError(.ownerRequired, "the credential opens one access group")
    } catch {
      guard [.credentialRejected, .staleCredential, .ownerRequired].contains(error.code) else { throw error }
      // Another process may have removed the slot that unlocked the vault. Then this fails with that.
      _ = try vault.slots()
      throw ToolError(
        error, message: "the credential of a --keep option opens no owner slot",
        hint: "\"secretprefs slots list\" shows the slots; group slots are always kept")
    }
  }
}
