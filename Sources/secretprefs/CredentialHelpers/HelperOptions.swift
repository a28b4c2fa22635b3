internal import ArgumentParser
internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The options of the credential helpers. Other programs start them and wait, so they never prompt.
struct HelperOptions: ParsableArguments {
  private static let longestRequest = 4 << 20

  @OptionGroup var location: LocationOptions

  @Flag(help: .jsonMessages)
  var json = false

  @OptionGroup var unlock: UnlockOptions

  // Neither uses its variable or the project's file, which may be set for the program that happens to start git or
  // docker.
  @Option(
    name: FastPathOption.service.name,
    help: ArgumentHelp("The service of the credentials.", discussion: "Default: git or docker.", valueName: "name"))
  var service: String?

  @Option(
    name: FastPathOption.group.name,
    help: ArgumentHelp(
      "The access group of the credentials.",
      discussion: "Default: the setting group of the user's file, or \"\(AccessGroup.defaultName)\"."
        + ToolSetting.soleGroup, valueName: "name"))
  var group: String?

  @Flag(help: ArgumentHelp("Store and erase nothing.", discussion: "Default: $SECRETPREFS_HELPER_READ_ONLY."))
  var readOnly = false

  /// Whether the helper may only read, by its option or the environment, where `0` means no. An empty variable is a
  /// usage error.
  var isReadOnly: Bool {
    get throws { try readOnly || ![nil, "0"].contains(VaultLocation.variable("SECRETPREFS_HELPER_READ_ONLY")) }
  }

  /// Opens the vault.
  ///
  /// - Parameter program: The program of the credentials: the name of their service, unless an option names one.
  func open(for program: String, _ messages: Messages) throws -> HelperVault {
    var access = try unlock.complete(try location.access(in: .ofUser))
    access.mayPrompt = false
    let place = try RecordPlace(helper: service ?? program, group: group)
    let vault = try access.open(messages)
    return HelperVault(
      vault: vault, service: place.service, group: try place.group(in: vault), now: access.options.now())
  }

  /// Reads the request on standard input to the end, or until it is whole.
  func readRequest(
    until isWhole: (UnsafeRawBufferPointer, _ seen: Int) -> Bool = { _, _ in false }
  ) throws -> SecretBytes {
    guard unlock.credential.passphraseFd != STDIN_FILENO else {
      throw ToolError.usage("standard input cannot be both the passphrase and the request")
    }
    do {
      return try ValueReader.read(STDIN_FILENO, atMost: Self.longestRequest, "read the request", until: isWhole)
    } catch let error as VaultError {
      guard error.code == .valueTooLarge else { throw error }
      throw PreferencesError(.limitExceeded, "the request has more than \(Self.longestRequest) bytes")
    }
  }
}

/// The place of a helper's credentials in an open vault.
struct HelperVault {
  let vault: Vault
  let service: Vault.Name
  let group: AccessGroup
  /// The time of the request, in milliseconds since 1970-01-01 UTC.
  let now: Int64

  var values: ServiceValues { get throws(VaultError) { try ServiceValues(of: service, in: group, of: vault) } }

  /// Makes the changes that `body` adds.
  func update(
    by command: any WritingCommand.Type, _ messages: Messages,
    _ body: (inout Vault.Transaction) throws(VaultError) -> Void
  ) throws(VaultError) {
    try vault.transaction(service: service, in: group, body)
    vault.recordChange(by: command, messages)
  }
}

/// Whether `bytes` have a control character of ASCII. One in a name or a value could add a line to an answer, or forge
/// text on a terminal.
func hasControlCharacter(_ bytes: some Sequence<UInt8>) -> Bool { bytes.contains { $0 < 0x20 || $0 == 0x7F } }
