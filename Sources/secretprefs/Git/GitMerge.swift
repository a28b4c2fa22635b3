internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs git-merge`, which git starts to merge a vault.
struct GitMerge: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "git-merge",
    abstract: "Merges two changed copies of a vault, for git.",
    usage: "secretprefs git-merge [<options>] <base> <ours> <theirs>",
    discussion: """
      The three files are copies of one vault: the common ancestor, and one of each side. The second is replaced by \
      the result. Entries of a vault are chained and sealed, so they cannot be mixed: what one side has changed is \
      written again on the other side's copy, as by "secretprefs set" and "remove", with new revisions. Of several \
      changes of a key, the last one is taken; a value that it replaces becomes an earlier value. Values of <base> \
      that the side with the change no longer has, not even as earlier ones, are gone in the result, too. The result \
      is a later state than both sides for a mark, "secretprefs backup --keep", running programs and --if-revision.

      If only one side has changed slots, access groups or keys, its copy is taken, and the other side's keys \
      are written on it. If both have, nothing is merged. A key that both have changed is a conflict, unless both have \
      given it the same value and metadata: it stays as in <ours>, and is named. So is one of which the side that is \
      written has removed earlier values for good, one whose rotation is not confirmed there, one that a side has \
      removed for good while the other has changed it or can still restore it, and one whose changed value needs a \
      device key that is not given. The exit code is then 1, and git asks to resolve the conflict: set the key, and \
      "git add" the file. If the copy of <theirs> is taken and such a key of <ours> cannot be written on it, nothing \
      is merged. Nor is a side with a broken end. Where two branches have merged each other before, git first merges \
      their ancestors: with "recursive" set to binary a conflict there stays one, which git would otherwise commit as \
      solved.

      A credential of an owner is needed, which opens all three, such as the key of "secretprefs unlock"; a group's \
      holder does not see what others have changed. An identity opens with one pin, which "secretprefs \
      rotate --vault-keys" changes: merge across that with a key file or passphrase of an owner, or before it. A \
      rollback mark is not used: the files are older by their nature. A vault with logging is not merged: its logs are \
      beside it. See "secretprefs help git-textconv" for the settings of git, and for the attributes of the vault, of \
      which -text keeps it whole.

      EXAMPLE:
        git config merge.secretprefs.driver 'secretprefs git-merge %O %A %B'
        git config merge.secretprefs.recursive binary
        secretprefs git-merge base.spv ours.spv theirs.spv
      """)

  @Flag(help: .json)
  var json = false

  @OptionGroup var unlock: CredentialOptions

  @Argument(help: ArgumentHelp("The common ancestor, then ours and theirs.", valueName: "base"), completion: .file())
  var files: [String] = []

  private static let onePin =
    "the identity was added later, or a rotation of the vault's keys, which changes the pin, is in between: merge with "
    + "a key file or passphrase of an owner that opens all three"

  func perform(_ messages: Messages) throws {
    guard files.count == 3 else { throw Self.usageError("three files are required") }
    var access = try unlock.complete(try VaultAccess(VaultLocation(argument: files[1])))
    access.markPath = nil
    var sides: [VaultLocation] = []
    for (side, file) in zip(MergeSide.allCases, files) {
      sides.append(try side.named { () throws(VaultError) in try VaultLocation(copyOf: file) })
    }
    let limit = access.options.limits.fileBytes
    guard try !sides[0].storage(access.options).load(limit: limit).bytes.bytes.isEmpty else {
      throw VaultError(
        .conflict, "both sides have added the vault, and without a common ancestor nothing tells what each has changed",
        cause: Cure(hint: "take one side, and repeat the changes of the other"))
    }
    for (side, location) in zip(MergeSide.allCases, sides) {
      _ = try side.named { () throws(VaultError) in
        try VaultInfo(in: location.storage(access.options), options: access.options)
      }
    }
    guard Set(sides.map(\.identifier)).count == 1 else {
      throw VaultError(.malformed, "the files are not copies of one vault", cause: Cure(hint: Self.usage))
    }
    access.location = sides[1]
    let (ours, credential) = try access.openKeepingCredential(messages)
    let options = try access.unlockedOptions(messages)
    func other(_ side: MergeSide) throws(VaultError) -> Vault {
      try side.named { () throws(VaultError) -> Vault in
        let storage = try sides[side.rawValue].storage(options)
        do throws(VaultError) {
          return try Vault.open(in: storage, credential: credential, options: options)
        } catch {
          guard error.code == .credentialRejected, credential.holder != nil else { throw error }
          throw VaultError(error.code, "no slot opens with this identity and pin", cause: Cure(hint: Self.onePin))
        }
      }
    }
    var merge = try VaultMerge(base: try other(.base), ours: ours, theirs: try other(.theirs))
    try merge.run()
    let result = try sides[merge.takesTheirs ? 2 : 1].storage(access.options).load(limit: limit)
    try OutputFile.replace(files[1], kind: .vault) { (file) throws(VaultError) in
      try file.write(result.bytes.bytes, at: 0)
    }
    Output.recordChange(by: Self.self)
    for conflict in merge.conflicts { messages.warn("\(displayed(conflict.place)): \(conflict.reason)") }
    if json { try Output.write(merge.json) }
    guard merge.conflicts.isEmpty else { throw ToolError.conflicts(merge.conflicts.count) }
  }
}

/// One of the three files, in their order.
private enum MergeSide: Int, CaseIterable {
  case base, ours, theirs

  /// The words of git. The file has a name that git made up for it.
  private var name: String {
    switch self {
    case .base: "the common ancestor"
    case .ours: "the version of the current branch (ours)"
    case .theirs: "the version of the other branch (theirs)"
    }
  }

  /// Returns what `body` returns, and throws its errors with the name of the file. A backup and `salvage` are no cure
  /// for it: they would replace the vault of the user.
  func named<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      let isBroken = Self.broken.contains(error.code)
      throw VaultError(
        error.code, "\(name): \(error.message)", errno: error.errno,
        cause: isBroken ? Cure(hint: Self.undoing) : error.cause)
    }
  }

  private static let broken: [VaultError.Code] = [.notAVault, .damaged, .malformed, .limitExceeded, .tampered]
  private static let undoing =
    "\"git merge --abort\" undoes the merge; or take a side that is whole, and repeat the changes of the other"
}
