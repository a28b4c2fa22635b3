/// What a vault, or the sealing beneath it, refused or failed to do, in the error classes of `Docs/Format.md` section 11.
///
/// The message names the part concerned and never a value, a passphrase, a key or the name of a record.
public struct VaultError: Error, Sendable, CustomStringConvertible {
  /// The class of an error. New ones may come; match those you handle and let the rest pass.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no vault at the path, or no such record.
    public static let notFound = Code(rawValue: "notFound")
    /// Something is at the path where a vault was to be created.
    public static let alreadyExists = Code(rawValue: "alreadyExists")
    /// A record was changed since the revision that the caller compared; nothing was written.
    public static let conflict = Code(rawValue: "conflict")
    /// The record's expiry has passed, and the caller asked for that to be an error.
    public static let expired = Code(rawValue: "expired")
    /// The record holds a value of another kind than the one asked for.
    public static let typeMismatch = Code(rawValue: "typeMismatch")
    /// A service, key or group name breaks the rule of 2.5.
    public static let invalidName = Code(rawValue: "invalidName")
    /// Key text is not exactly as 2.5 asks.
    public static let invalidKeyText = Code(rawValue: "invalidKeyText")
    /// A passphrase is empty or longer than 4096 bytes.
    public static let invalidPassphrase = Code(rawValue: "invalidPassphrase")
    /// A value is longer than the limit; nothing was written.
    public static let valueTooLarge = Code(rawValue: "valueTooLarge")
    /// The file is something else.
    public static let notAVault = Code(rawValue: "notAVault")
    /// The file was written by a later version of the format.
    public static let unsupportedVersion = Code(rawValue: "unsupportedVersion")
    /// The file uses a feature this version does not know.
    public static let unsupportedFeature = Code(rawValue: "unsupportedFeature")
    /// The file breaks a rule of the format.
    public static let malformed = Code(rawValue: "malformed")
    /// The file exceeds a limit of 3.10.
    public static let limitExceeded = Code(rawValue: "limitExceeded")
    /// A slot asks for more or less work than 3.10 accepts.
    public static let kdfRefused = Code(rawValue: "kdfRefused")
    /// The file was damaged in transit or on disk.
    public static let damaged = Code(rawValue: "damaged")
    /// A seal fails under a key that the credential granted, or verified parts contradict each other.
    public static let tampered = Code(rawValue: "tampered")
    /// The vault is older than the mark kept outside (annex B).
    public static let rolledBack = Code(rawValue: "rolledBack")
    /// A mark is configured, and the file is not there.
    public static let markMissing = Code(rawValue: "markMissing")
    /// No slot opens with the credential.
    public static let credentialRejected = Code(rawValue: "credentialRejected")
    /// The slot belongs to an earlier epoch of its group.
    public static let staleCredential = Code(rawValue: "staleCredential")
    /// The credential does not grant the access group, or there is none of that name.
    public static let groupNotGranted = Code(rawValue: "groupNotGranted")
    /// A name of an accessibility class that a server cannot honour.
    public static let unsupportedAccessibility = Code(rawValue: "unsupportedAccessibility")
    /// Only an owner may do this.
    public static let ownerRequired = Code(rawValue: "ownerRequired")
    /// The value is bound to a device key and none was given.
    public static let deviceKeyMissing = Code(rawValue: "deviceKeyMissing")
    /// The value is bound to another device key.
    public static let wrongDevice = Code(rawValue: "wrongDevice")
    /// The handle holds no keys (any more), or was inherited by a forked process.
    public static let locked = Code(rawValue: "locked")
    /// No way to unlock is configured.
    public static let noCredential = Code(rawValue: "noCredential")
    /// Argon2id found no memory for its cost.
    public static let kdfMemory = Code(rawValue: "kdfMemory")
    /// A system call failed, or the system gave no guarded memory or no random bytes; the vault is as it was.
    public static let io = Code(rawValue: "io")
    /// The file, the directory or the file system does not allow writing.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The file has several names; writing would split them.
    public static let hardLinked = Code(rawValue: "hardLinked")
    /// The mounted file was replaced outside; a write would be lost.
    public static let replaced = Code(rawValue: "replaced")
    /// Owner or mode of file or directory are wider than the policy allows, or the path is a symbolic link.
    public static let insecurePermissions = Code(rawValue: "insecurePermissions")
    /// Another writer held the lock for too long.
    public static let lockTimeout = Code(rawValue: "lockTimeout")
    /// The change may or may not survive a power cut; load again before deciding.
    public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
    /// The change would leave the vault without an owner.
    public static let lastOwnerSlot = Code(rawValue: "lastOwnerSlot")

    /// Every class, in the order of `Docs/Format.md` section 11.
    public static let all: [Code] = [
      .notFound, .alreadyExists, .conflict, .expired, .typeMismatch, .invalidName, .invalidKeyText, .invalidPassphrase,
      .unsupportedAccessibility, .valueTooLarge, .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed,
      .limitExceeded, .kdfRefused, .damaged, .tampered, .rolledBack, .markMissing, .credentialRejected,
      .staleCredential,
      .groupNotGranted,
      .ownerRequired, .deviceKeyMissing, .wrongDevice, .locked, .noCredential, .kdfMemory, .io, .readOnly,
      .hardLinked, .replaced, .insecurePermissions, .lockTimeout, .durabilityUnknown, .lastOwnerSlot,
    ]
  }

  /// The class; match this, not the text.
  public let code: Code
  /// One line that says which part is concerned.
  public let message: String
  /// The system's error number, where a system call failed.
  public let errno: Int32?
  /// What led here, if another error did.
  public let cause: (any Error)?

  /// - Parameter message: one line without a value, a passphrase, a key or the name of a record.
  public init(_ code: Code, _ message: String, errno: Int32? = nil, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.errno = errno
    self.cause = cause
  }

  public var description: String { "\(code.rawValue): \(message)" }
}
