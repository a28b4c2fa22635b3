/// An event of a log: a read or write of a record, as it was logged before it was made, or an event of the log itself
/// (`Docs/Format.md` annex F).
public struct AuditEvent: Sendable {
  /// The kind of action that is logged. Actions of later versions have numbers from 15 on.
  public struct Action: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in the file.
    public let rawValue: UInt8

    /// An action by its number in the file.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    private init(_ number: UInt8) { rawValue = number }

    /// The value, or an earlier value, was lent.
    public static let read = Action(1)
    /// A value was set.
    public static let write = Action(2)
    /// The metadata was changed.
    public static let edit = Action(3)
    /// An earlier value was made the current one.
    public static let restore = Action(4)
    /// The record was copied; the next event names the copy.
    public static let copy = Action(5)
    /// The record was removed.
    public static let remove = Action(6)
    /// Logging was switched on, or its settings were changed.
    public static let start = Action(7)
    /// Logging was switched off.
    public static let stop = Action(8)
    /// The access group gets a new key.
    public static let rotate = Action(9)
    /// A new file began because the one before could not be continued.
    public static let continued = Action(10)
    /// The last event of a file: the log goes on in the next one.
    public static let handOver = Action(11)
    /// Old files were removed, as the settings say.
    public static let prune = Action(12)
    /// Findings of a verification were acknowledged.
    public static let acknowledge = Action(13)
    /// The access group has a new key.
    public static let newKey = Action(14)

    private static let names = [
      "read", "write", "edit", "restore", "copy", "remove", "start", "stop", "rotate", "continue", "hand over", "prune",
      "acknowledge", "new key",
    ]

    /// Whether the event names a record.
    var isOfRecord: Bool { (1...6).contains(rawValue) }
    /// Whether the event is one of this version that names no record.
    var isOfLog: Bool { (7...14).contains(rawValue) }

    /// One or two words; `action` and the number for an action of a later version.
    public var description: String {
      isOfRecord || isOfLog ? Self.names[Int(rawValue) - 1] : "action \(rawValue)"
    }
  }

  /// The position in the log, from 1.
  public let number: UInt64
  /// Milliseconds since 1970-01-01 UTC.
  public let time: Int64
  /// The requested action. It may have failed afterwards.
  public let action: Action
  /// The service of the record; `nil` for an action of the whole access group.
  public let service: Vault.Name?
  /// The key of the record; `nil` for an action of the whole access group.
  public let key: Vault.Name?
  /// The real user id of the process.
  public let userID: UInt32
  /// The id of the process.
  public let processID: Int32
  /// The file name of the process's program; empty if the system does not provide it.
  public let program: String
  /// The slot with which the process opened the vault.
  public let slot: Vault.Identifier
  /// How many events the process could not log before this one.
  public let lost: UInt64
}
