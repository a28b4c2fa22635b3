extension Vault {
  /// The broken end of a journal: an interrupted write, or acknowledged entries that were damaged later.
  ///
  /// The file does not show which of the two it is (`Docs/Format.md` 10.3), and a damaged range can hide entries after
  /// the first broken one. Reads see none of their changes.
  public struct TornTail: Sendable, Hashable {
    /// The largest number of acknowledged entries that these bytes can hide: as many of the shortest ones as fit
    /// between the last whole entry and the end of the file. `nil` if the file was cut off, so that there is no limit.
    public let entryLimit: Int?
    /// Whether there are bytes that do not belong to the first broken entry, so that it was not the only one.
    public let isSeveralEntries: Bool

    /// The tail of `bytes` from `tail`, whose last nonzero byte is before `end`.
    init(_ bytes: RawSpan, tail: Int, end: Int) {
      let first = JournalFrame.Entry(bytes, at: tail)
      let firstEnd = first?.range.upperBound ?? tail + Vault.Limits.entryBytes.upperBound
      let isCutOff = end == bytes.byteCount || first.map { $0.range.upperBound > bytes.byteCount } == true
      entryLimit = isCutOff ? nil : max(1, (bytes.byteCount - tail) / Vault.Limits.entryBytes.lowerBound)
      isSeveralEntries = end > firstEnd
    }
  }
}
