extension Vault {
  /// The limits of `Docs/Format.md` 3.10. A caller may lower some of them. A value above the format's limit is replaced
  /// by that limit.
  public struct Limits: Sendable, Hashable {
    /// The format's own limits.
    public static let format = Vault.Limits()

    /// The maximum length of the file, in bytes. The default is 1 GiB.
    public var fileBytes = 1 << 30 { didSet { fileBytes = min(fileBytes, 1 << 30) } }
    /// The maximum number of records in a group. The default is 2^20.
    public var records = 1 << 20 { didSet { records = min(records, 1 << 20) } }
    /// The maximum length of a value that is read, in bytes. The default is 16 MiB.
    public var valueBytes = 16 << 20 { didSet { valueBytes = min(valueBytes, 16 << 20) } }
    /// The maximum length of a value that is written, in bytes. The default is 1 MiB; the format allows 16 MiB.
    public var writtenValueBytes = 1 << 20 { didSet { writtenValueBytes = min(writtenValueBytes, 16 << 20) } }

    static let slots = 64
    static let passphraseSlots = 8
    static let groups = 1024
    static let entryBytes = 384...(32 << 20)
    /// Generations run from 1 to 2^63 − 1.
    static let generations: ClosedRange<UInt64> = 1...UInt64(Int64.max)
    /// Returns a generation that was read from a file.
    /// - Throws: ``VaultError/Code/limitExceeded`` outside ``generations``.
    @inline(__always)
    static func checkedGeneration(_ stated: UInt64) throws(VaultError) -> UInt64 {
      guard generations.contains(stated) else {
        throw VaultError(.limitExceeded, "a generation is outside 1 to 2^63 - 1")
      }
      return stated
    }

    /// How far a group holder may run ahead of the last owner write (section 4, step 7).
    static let generationsAhead: UInt64 = 1 << 32

    /// Creates the format's own limits.
    public init() {}
  }
}
