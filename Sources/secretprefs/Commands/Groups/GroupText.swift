internal import VaultCore

extension VaultStatus.Group {
  /// Describes the group, without its name.
  var words: String {
    let removed = removedCount > 0 ? ", \(removedCount) removed" : ""
    return "\(counted(recordCount, "record", "records"))\(removed), generation \(generation), epoch \(epoch)"
  }

  var json: JSON {
    .object([
      ("name", .string(name.text)), ("records", .unsigned(UInt64(recordCount))),
      ("removed", .unsigned(UInt64(removedCount))),
      ("generation", .unsigned(generation)), ("epoch", .unsigned(UInt64(epoch))),
    ])
  }
}
