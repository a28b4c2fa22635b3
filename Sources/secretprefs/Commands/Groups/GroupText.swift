internal import VaultCore

extension VaultStatus.Group {
  /// Describes the group, without its name.
  var words: String { "\(counted(recordCount, "record", "records")), generation \(generation), epoch \(epoch)" }

  var json: JSON {
    .object([
      ("name", .string(name.text)), ("records", .unsigned(UInt64(recordCount))),
      ("generation", .unsigned(generation)), ("epoch", .unsigned(UInt64(epoch))),
    ])
  }
}
