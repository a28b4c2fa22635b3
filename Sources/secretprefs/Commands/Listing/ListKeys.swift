internal import VaultCore

/// The operation of `list`.
struct ListKeys: ToolAction {
  let access: VaultAccess
  let place: RecordPlace
  var listing = KeyListing()
  var pattern: KeyPattern?

  func perform(_ messages: Messages) throws {
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    guard listing.layout == .lines, !listing.namesServices else {
      let records = try vault.records(service: listing.namesServices ? nil : place.service, in: group)
      return try listing.write(
        records.filter { pattern?.matches($0.key.text) ?? true }, at: access.options.now())
    }
    // Reads no metadata of the records, which takes longer.
    var lines: [UInt8] = []
    for var key in try vault.keys(service: place.service, in: group) where pattern?.matches(key) ?? true {
      key.withUTF8 { displayed($0, into: &lines) }
      lines.append(UInt8(ascii: "\n"))
    }
    try Output.write(lines)
  }
}
