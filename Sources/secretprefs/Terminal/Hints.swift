internal import VaultCore

/// What to do about an error, where there is something to do.
enum Hints {
  static let revisions = "\"secretprefs history\" lists the revisions that a key keeps"
  static let brokenMark = "move the mark away and look what changed it; \"secretprefs mark init\" makes another"
  static let restoreOrSalvage =
    "\"secretprefs backup restore\" puts a backup back; \"secretprefs salvage\" saves what can be saved"
  static let makeVault = "\"secretprefs init\" makes a vault, --vault names another"

  static func text(_ code: VaultError.Code) -> String? {
    switch code {
    case .notFound: makeVault
    case .alreadyExists: "nothing is ever overwritten; choose another path or name"
    case .conflict: "\"secretprefs info\" shows what there is now, and its revision"
    case .expired: "store a new value; without --refuse-expired this one is still given"
    case .invalidName: "keys, services and groups are 1 to 1024 bytes of text without control characters"
    case .invalidKeyText: "\"secretprefs new-key\" writes such a file; no other text is accepted"
    case .valueTooLarge: "keep a large file sealed by other means, and its key here"
    case .notAVault: "--vault names another file"
    case .unsupportedVersion, .unsupportedFeature: "a later version of secretprefs can read it"
    case .damaged, .malformed: restoreOrSalvage
    case .limitExceeded: "remove what is not needed; a file that cannot be opened is restored from a copy"
    case .tampered: "do not write to it; keep the file and compare it with a copy"
    case .rolledBack:
      "do not write to it; if the older copy was put back on purpose, \"secretprefs mark accept\" allows it"
    case .markMissing:
      "\"secretprefs mark init\" makes one; but who put an older vault back may have taken the mark away"
    case .deviceKeyMissing: "--device-key-file names the key of this machine"
    case .wrongDevice: "give the device key that the value was stored with"
    case .credentialRejected: "\"secretprefs status\" lists how this vault can be unlocked"
    case .staleCredential: "the access group's key was rotated; ask an owner for a new credential"
    case .groupNotGranted: "\"secretprefs groups list\" shows the access groups that the credential grants"
    case .ownerRequired: "unlock with an owner's passphrase or key"
    case .lastOwnerSlot:
      "add another owner slot first; one that is there goes on with --keep-key-file or --keep-passphrase-fd"
    case .noCredential:
      "give --key-file or --passphrase-fd, or set SECRETPREFS_KEY_FILE; a prompt needs a terminal"
    case .insecurePermissions:
      "chmod 600 the file, chmod go-w its directory, and name the file itself, not a link to it"
    case .hardLinked: "remove the file's other names"
    case .replaced: "mount the directory instead of the single file"
    case .lockTimeout: "another program is writing; try again, or wait longer with --lock-timeout"
    case .durabilityUnknown: "look whether the change is there before you repeat it"
    case .kdfMemory: "free some memory, or unlock with a key file"
    default: nil
    }
  }
}
