internal import DurableFiles
internal import Secrets
internal import VaultCore

/// What a user can do about an error.
enum Hints {
  static let revisions = "\"secretprefs history\" lists the revisions of a key"
  static let brokenMark =
    "move the mark away and find out what changed it; \"secretprefs mark init\" creates a new one"
  static let otherMark = "--mark names a different file; if the mark was here, \(brokenMark)"
  static let restoreOrSalvage =
    "\"secretprefs backup restore\" restores a backup; \"secretprefs salvage\" recovers what is readable"
  static let laterVersion = "use a later version of secretprefs"
  static let otherVault = "--vault selects a different file"
  static let otherRow = "another name behind # in --vault selects a different vault"
  static let otherIdentity = "--identity names an identity file; \"secretprefs identity new\" creates one"
  static let otherKeyFile = "--key-file names a key file; \"secretprefs new-key\" creates one"
  static let otherDeviceKey = "--device-key-file names the device key"
  static let otherPassphraseFile = "a passphrase in $CREDENTIALS_DIRECTORY is a regular file or a FIFO"
  static let makeVault = "\"secretprefs init\" creates a vault; --vault selects a different one"

  static let keys = "\"secretprefs list\" lists the keys; --service and --group select a different service or group"

  static let groups = "\"secretprefs groups list\" lists the access groups that the credential opens"

  static let references =
    "\"secretprefs list --references --all-services --all-groups\" lists the references to all keys"

  /// What to do about another program's reference.
  static let `import` =
    "store the value with \"secretprefs set\" or \"secretprefs import\", and refer to it by secret://service/key"

  static let auditLog =
    "\"secretprefs audit verify\" examines the log; if the disk is full, make space; an owner's "
    + "\"secretprefs audit on\" sets it aside if it cannot go on, and \"secretprefs audit off\" switches it off"

  static let foreignLog = "move what is not a file of the log elsewhere, or repair its owner, mode and links"

  static let unwritableLog =
    "make the log and its directory writable for the user who runs the command, or mount them writable; an owner's "
    + "\"secretprefs audit off\" switches the log off where the vault is writable"

  /// What to do about a log that cannot be written or read.
  static func text(ofLog error: VaultError) -> String {
    if error.code == .rolledBack { return olderLog }
    if error.code == .readOnly { return unwritableLog }
    return (error.cause as? AuditRefusal)?.isOfForeignFile == true ? foreignLog : auditLog
  }

  /// What to do about a handed-over file that this vault or version cannot read.
  static let laterFile =
    "move the handed-over file that a finding names elsewhere: only a later copy of the vault, or a later version of "
    + "secretprefs, reads it"

  static let olderLog =
    "after a restore on purpose, an owner's \"secretprefs audit on\" sets a log with a later key aside, and "
    + "\"secretprefs mark accept\" accepts a log that is older than the mark"

  /// What unlocks a vault that has no passphrase slot.
  static let keyFile =
    "--key-file or SECRETPREFS_KEY_FILE unlock the vault; so does \"secretprefs unlock --key-file <file>\", for a time"

  /// What to do about a key that was meant as a pattern.
  ///
  /// - Parameter options: The options of the service and group, after a blank, or an empty text.
  static func patterns(_ options: String) -> String {
    "\"secretprefs list\(options) '<pattern>'\" lists the keys that match"
  }

  /// What to do about a pattern of keys to remove.
  static func removedPatterns(_ options: String) -> String {
    "\"secretprefs remove\(options) --match '<pattern>'\" shows the keys that match, and removes them"
  }

  /// What to do with the new value of a rotation that was kept in a file.
  ///
  /// - Parameter options: The options of its service and group, after a blank, or an empty text.
  static func keptValue(_ options: String, rotatedFrom file: String, _ key: String) -> String {
    "\"secretprefs rotate-value\(options) \(shellWord(key)) -- cat \(shellPath(file))\" \(storesTheNewValue)"
  }

  /// The same for a key that has no value to rotate.
  ///
  /// - Parameter options: also that of its kind.
  static func keptValue(_ options: String, setFrom file: String, _ key: String) -> String {
    let word = key.contains("=") ? "-- \(shellWord(key))" : shellKey(key)
    return "\"secretprefs set\(options) --file \(shellPath(file)) \(word)\" \(storesTheNewValue)"
  }

  private static let storesTheNewValue = "stores the new value; the same command again makes another one"

  /// How a backup takes the place of a file.
  ///
  /// - Parameters:
  ///   - vault: The option that names the vault, after a blank, or an empty text.
  ///   - move: The command that moves the file away; `nil` if the backup can replace it.
  static func restore(_ vault: String, movingAway move: String?) -> String {
    let restores = "\"secretprefs backup restore\(vault) <backup>\" restores a backup"
    return move.map { "\(restores) once the file is moved away: \"\($0)\"" } ?? restores
  }

  static let restoreElsewhere =
    "\"secretprefs backup restore --vault <url> <backup>\" restores a backup under another name behind #"

  static let wasVault = "if the vault was here, "
  static let isDamaged = "if the file is damaged, "

  static func salvage(_ vault: String) -> String {
    "\"secretprefs salvage\(vault) --to <file>\" recovers what is readable"
  }

  static let shared =
    "if the Unix group of the directory shares the vault, use --shared, or set SECRETPREFS_SHARED to 1"

  /// What to do about a shared vault or its directory with rights for others.
  static func share(_ path: String) -> String { "\"chmod o= \(shellPath(path))\" leaves it to its group" }

  static func narrow(file path: String) -> String { "\"chmod 600 \(shellPath(path))\" makes the file private" }

  static let foreignKeyFile =
    "its owner or root gives the file to the user who runs the command, with mode 0400, or to a group of that user, "
    + "with mode 0440; docker compose takes both from the file on the host, Kubernetes from fsGroup and defaultMode"

  static let mountedKeyFile =
    "the file system is read-only, so its mount has to set the mode: 0400 for the user who runs the command, or 0440 "
    + "for a group of that user, in Kubernetes with defaultMode and fsGroup"

  static func narrow(directory path: String) -> String {
    "\"chmod go-w \(shellPath(path))\" makes the directory safe"
  }

  static let configuration =
    "a line is \"name = value\", empty, or begins with #; \"secretprefs help config\" has the names"

  /// What to do about a file or directory with settings that others may change.
  static func withoutWriting(_ path: String) -> String {
    "\"chmod go-w \(shellPath(path))\" leaves writing to its owner"
  }

  /// - Parameter path: The directory, if the error names it.
  static func missing(directory path: String?) -> String {
    "create the directory first: mkdir -p \(path.map(shellPath) ?? "<directory>")"
  }

  static let fullDisk =
    "nothing was changed and nothing is lost; make space on the disk, or raise the quota, and run the command again"

  /// What a user can do about a failed system call that writes.
  static func text(errno number: Int32?) -> String? {
    switch number {
    case ENOSPC, EDQUOT: fullDisk
    case ENOENT: missing(directory: nil)
    case EBUSY: mountDirectory
    default: nil
    }
  }

  static let mountDirectory = "mount the directory instead of the single file"

  static let privateDirectory = "use a directory that only its owner can write to"

  /// What a user can do about an error of a vault, a mark or a key file.
  static func text(_ error: VaultError) -> String? {
    switch error.code {
    case .notFound: makeVault
    case .alreadyExists: "existing files and names are never overwritten; choose a different one"
    case .conflict where error.cause is Vault.UnnamedOwner:
      "run the command again; \"secretprefs slots list\" shows the new slot"
    case .conflict: "\"secretprefs info\" shows the current revision"
    case .expired: "store a new value, or read the old one without --refuse-expired"
    case .invalidName: "names of keys, services and groups have 1 to 1024 bytes and no control characters"
    case .invalidKeyText where error.cause is IdentityFile.BadVariable: PublicText.pinHint
    case .invalidKeyText:
      "remove what was added to the text, or restore the file from a copy; a new key or identity opens no existing "
        + "vault"
    case .valueTooLarge:
      "a value has at most 16 MiB, and its label, comment and attributes 64 KiB; encrypt a large file with another "
        + "program and store its key here"
    case .notAVault: otherVault
    case .unsupportedVersion, .unsupportedFeature: laterVersion
    case .damaged, .malformed: restoreOrSalvage
    case .limitExceeded: "remove data that is not needed; if the file cannot be opened, restore a backup"
    case .tampered: "do not write to the file; keep it and compare it with a backup"
    case .rolledBack:
      "do not write to the file; if an older copy was restored on purpose, run \"secretprefs mark accept\""
    case .markMissing:
      "\"secretprefs mark init\" creates a mark; first make sure that it was not removed to hide an older vault"
    case .deviceKeyMissing: otherDeviceKey
    case .wrongDevice: "use the device key that the value was stored with"
    case .credentialRejected: "\"secretprefs status\" lists the ways to unlock this vault"
    case .staleCredential: "the access group's key was rotated; ask an owner for a new credential"
    case .groupNotGranted: groups
    case .ownerRequired: "unlock with an owner's passphrase or key"
    case .lastOwnerSlot:
      "add another owner slot first, or keep an existing one with --keep-key-file or --keep-passphrase-fd"
    case .noCredential where error.cause is IdentityFile.WithoutPin:
      "--trust or SECRETPREFS_TRUST gives the pin; \"secretprefs slots pin\" prints it to an owner"
    case .noCredential where KeptKey.hintAfterLogout != nil: KeptKey.hintAfterLogout
    case .noCredential:
      "--key-file, --passphrase-fd or SECRETPREFS_KEY_FILE unlock the vault; so does \"secretprefs unlock\" in a "
        + "terminal, for a time"
    case .insecurePermissions where error.errno == EPERM && geteuid() == 0:
      "run the command as the user to whom it belongs (sudo -u, or runuser -u)"
    case .insecurePermissions where error.errno == EPERM:
      "run the command as the user to whom it belongs (sudo -u), or give it to this user (chown)"
    case .insecurePermissions where error.errno == ELOOP: "name the file itself, not a link to it"
    case .insecurePermissions: UnsafeFile.credentialHint(error) ?? privateDirectory
    case .hardLinked: "remove the file's other hard links"
    case .replaced: mountDirectory
    case .readOnly where error.errno == EROFS: "mount the file system writable"
    case .readOnly where error.errno == EACCES:
      "run the command as a user who may write there, or change the mode (chmod u+w)"
    case .unreachable: "the vault is unchanged; try again when its storage can be reached"
    case .lockTimeout: "another process is writing; try again, or wait longer with --lock-timeout"
    case .durabilityUnknown: "check whether the change was made before you repeat it"
    case .io where error.isFullDisk: fullDisk
    case .io where error.isAboutMount: mountDirectory
    case .io: error.missingDirectory.map { missing(directory: $0) }
    case .kdfMemory: "free some memory, or unlock with a key file"
    default: nil
    }
  }
}
