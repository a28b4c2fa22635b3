extension Vault {
  /// The limits of `Docs/Format.md` 3.10. A caller may lower some of them; raising one
  /// beyond the format's has no effect.
  public struct Limits: Sendable, Hashable {
    /// The format's own limits.
    public static let format = Vault.Limits()

    /// The longest file, in bytes: 1 GiB.
    public var fileBytes = 1 << 30 { didSet { fileBytes = min(fileBytes, 1 << 30) } }
    /// The most records of a group.
    public var records = 1 << 20 { didSet { records = min(records, 1 << 20) } }
    /// The longest value that is read, in bytes: 16 MiB.
    public var valueBytes = 16 << 20 { didSet { valueBytes = min(valueBytes, 16 << 20) } }
    /// The longest value that is written, in bytes. The format allows 16 MiB; 1 MiB unless raised.
    public var writtenValueBytes = 1 << 20 { didSet { writtenValueBytes = min(writtenValueBytes, 16 << 20) } }

    static let slots = 64
    static let passphraseSlots = 8
    static let groups = 1024
    static let entryBytes = 384...(32 << 20)
    /// Generations run from 1 to 2^63 − 1.
    static let generations: ClosedRange<UInt64> = 1...UInt64(Int64.max)
    /// How far a group holder may run ahead of the last owner write (section 4, step 7).
    static let generationsAhead: UInt64 = 1 << 32

    public init() {}
  }
}
