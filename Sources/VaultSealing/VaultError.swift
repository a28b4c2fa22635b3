/// The error of a vault, with one of the classes of `Docs/Format.md` section 11.
///
/// The message names the part concerned, and never a value, a passphrase, a key or the name of a record.
///
/// ```swift
/// do { … } catch where error.code == .credentialRejected { … }
/// ```
public struct VaultError: Error, Sendable, CustomStringConvertible {
  /// The class of an error. Later versions may add classes: match those you handle, and pass on the others.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// There is no vault at the path, or no such record.
    public static let notFound = Code(rawValue: "notFound")
    /// A file, group or record exists already.
    public static let alreadyExists = Code(rawValue: "alreadyExists")
    /// A record does not have the revision that the caller expects. Nothing was written.
    public static let conflict = Code(rawValue: "conflict")
    /// The expiry of the record has passed, and the options refuse expired records.
    public static let expired = Code(rawValue: "expired")
    /// The value of the record has a different kind than the requested one.
    public static let typeMismatch = Code(rawValue: "typeMismatch")
    /// The name of a service, key or group breaks the rule of `Docs/Format.md` 2.5.
    public static let invalidName = Code(rawValue: "invalidName")
    /// Key text does not have exactly the form of `Docs/Format.md` 2.5.
    public static let invalidKeyText = Code(rawValue: "invalidKeyText")
    /// A passphrase is empty or longer than 4096 bytes.
    public static let invalidPassphrase = Code(rawValue: "invalidPassphrase")
    /// A value is longer than the limit. Nothing was written.
    public static let valueTooLarge = Code(rawValue: "valueTooLarge")
    /// The file is not a vault.
    public static let notAVault = Code(rawValue: "notAVault")
    /// The file was written by a later version of the format.
    public static let unsupportedVersion = Code(rawValue: "unsupportedVersion")
    /// The file uses a feature that this version does not know.
    public static let unsupportedFeature = Code(rawValue: "unsupportedFeature")
    /// The file breaks a rule of the format.
    public static let malformed = Code(rawValue: "malformed")
    /// The file exceeds a limit of `Docs/Format.md` 3.10.
    public static let limitExceeded = Code(rawValue: "limitExceeded")
    /// The cost of a passphrase slot is outside the bounds of `Docs/Format.md` 3.10.
    public static let kdfRefused = Code(rawValue: "kdfRefused")
    /// The file was damaged in transit or on disk.
    public static let damaged = Code(rawValue: "damaged")
    /// A seal fails under a key that the credential grants, or verified parts contradict each other.
    public static let tampered = Code(rawValue: "tampered")
    /// The vault is older than its mark (`Docs/Format.md` annex B).
    public static let rolledBack = Code(rawValue: "rolledBack")
    /// A mark is configured, but its file does not exist.
    public static let markMissing = Code(rawValue: "markMissing")
    /// No slot opens with the credential.
    public static let credentialRejected = Code(rawValue: "credentialRejected")
    /// The slot belongs to an earlier epoch of its group.
    public static let staleCredential = Code(rawValue: "staleCredential")
    /// The credential does not grant the access group, or the group does not exist.
    public static let groupNotGranted = Code(rawValue: "groupNotGranted")
    /// The accessibility class has guarantees that a server cannot provide.
    public static let unsupportedAccessibility = Code(rawValue: "unsupportedAccessibility")
    /// Only an owner may make this change.
    public static let ownerRequired = Code(rawValue: "ownerRequired")
    /// The value is bound to a device key, and none was given.
    public static let deviceKeyMissing = Code(rawValue: "deviceKeyMissing")
    /// The value is bound to a different device key.
    public static let wrongDevice = Code(rawValue: "wrongDevice")
    /// The vault is locked, or was opened before this process was forked.
    public static let locked = Code(rawValue: "locked")
    /// No way to unlock is configured.
    public static let noCredential = Code(rawValue: "noCredential")
    /// Argon2id could not allocate the memory for its cost.
    public static let kdfMemory = Code(rawValue: "kdfMemory")
    /// A system call failed, or the system provided no guarded memory or no random bytes. The vault is unchanged.
    public static let io = Code(rawValue: "io")
    /// The file, the directory or the file system does not allow writing.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The file has several hard links, which writing would separate.
    public static let hardLinked = Code(rawValue: "hardLinked")
    /// The original of a single-file mount was replaced. A write would be lost.
    public static let replaced = Code(rawValue: "replaced")
    /// The owner or mode of the file or its directory is not accepted by the policy, or the path is a symbolic link.
    public static let insecurePermissions = Code(rawValue: "insecurePermissions")
    /// Another process held the writer lock for too long.
    public static let lockTimeout = Code(rawValue: "lockTimeout")
    /// The storage of the vault cannot be reached, such as a database. The vault is unchanged.
    public static let unreachable = Code(rawValue: "unreachable")
    /// The change may or may not survive a power failure. Load the vault again before deciding what to do.
    public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
    /// The change would leave the vault without an owner.
    public static let lastOwnerSlot = Code(rawValue: "lastOwnerSlot")

    /// Every class of `Docs/Format.md` section 11 that a library throws.
    public static let all: [Code] = [
      .notFound, .alreadyExists, .conflict, .expired, .typeMismatch, .invalidName, .invalidKeyText, .invalidPassphrase,
      .unsupportedAccessibility, .valueTooLarge, .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed,
      .limitExceeded, .kdfRefused, .damaged, .tampered, .rolledBack, .markMissing, .credentialRejected,
      .staleCredential, .groupNotGranted, .ownerRequired, .deviceKeyMissing, .wrongDevice, .locked, .noCredential,
      .kdfMemory, .io, .readOnly, .hardLinked, .replaced, .insecurePermissions, .lockTimeout, .unreachable,
      .durabilityUnknown, .lastOwnerSlot,
    ]
  }

  /// The class. Match this instead of the text.
  public let code: Code
  /// One line that names the part concerned.
  public let message: String
  /// The error number of a failed system call.
  public let errno: Int32?
  /// The error that caused this one, if any.
  public let cause: (any Error)?

  /// Creates an error.
  ///
  /// - Parameter message: one line without a value, a passphrase, a key or the name of a record.
  public init(_ code: Code, _ message: String, errno: Int32? = nil, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.errno = errno
    self.cause = cause
  }

  public var description: String { "\(code): \(message)" }
}

// `dump` shows no cause: an error of a different module may contain a value.
extension VaultError: CustomDebugStringConvertible, CustomReflectable {
  public var debugDescription: String { description }
  /// The code, the message and the error number, without the cause.
  public var customMirror: Mirror {
    Mirror(self, children: ["code": code.rawValue, "message": message, "errno": errno as Any])
  }
}
