internal import VaultCore

/// The operation of `list`.
struct ListKeys: ToolAction {
  let access: VaultAccess
  let place: RecordPlace
  var listing = KeyListing()
  /// Which keys are listed; `nil` for all.
  var expiry: ExpiryRule?
  var pattern: KeyPattern?

  func perform(_ messages: Messages) throws {
    let vault = try access.open(messages)
    let groups = try listing.groups(place, of: vault, messages)
    guard let group = groups.first, listing.layout == .lines, !listing.namesServices, !listing.namesGroups,
      expiry == nil
    else {
      let service = listing.namesServices ? nil : place.service
      let records = try ListedRecord.all(service: service, in: groups, of: vault)
        .filter { pattern?.matches($0.info.key.text) ?? true }
      if records.isEmpty { try checkPattern() }
      let now = access.options.now()
      let listed = records.filter { record in expiry.map { $0.isDueOrExpired(record.info, at: now) } ?? true }
      return try listing.write(listed, of: vault, at: now)
    }
    // Reads no metadata of the records, which takes longer.
    var lines: [UInt8] = []
    for var key in try vault.keys(service: place.service, in: group) where pattern?.matches(key) ?? true {
      key.withUTF8 { displayed($0, into: &lines) }
      lines.append(UInt8(ascii: "\n"))
    }
    if lines.isEmpty { try checkPattern() }
    try Output.write(lines)
  }

  /// Refuses a pattern that no key matches. A service without keys is no error.
  private func checkPattern() throws(ToolError) {
    guard pattern != nil else { return }
    throw ToolError(
      VaultError(.notFound, "no key matches the pattern"),
      hint: "\"secretprefs find\" finds parts of keys, labels and comments; --all-services lists all services")
  }
}
