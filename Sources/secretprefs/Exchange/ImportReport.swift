internal import VaultCore

/// What an import did or, in a dry run, would do. Has no values.
struct ImportReport {
  let plan: ImportPlan
  let format: PlainFormat
  let choice: ImportPlan.ConflictChoice
  /// What was written; `nil` in a dry run.
  let writes: [ImportPlan.Write]?
  /// How many bytes would be stored for each value; empty unless it is a dry run.
  let lengths: [Int]
  /// The access group, if an option, the environment or the configuration names it.
  let groupOption: String?
  /// ``VaultAccess/namingOptions``.
  let vaultOptions: String
  /// The path of the plain file that still has the values.
  let remainder: String?

  private var isDryRun: Bool { writes == nil }
  /// Whether the file says to which services the keys belong.
  private var isOfServices: Bool { format.helperService != nil || format == .records || format == .archive }
  /// The revision of all imported keys; `nil` if there are several.
  private var revision: UInt64? {
    guard let writes, writes.count == 1, writes[0].revisions.count == 1, !writes[0].hasTimes else { return nil }
    return writes[0].revisions.lowerBound
  }
  /// The replaced keys whose value is gone.
  private var lost: Int {
    choice == .replace ? plan.existing.count { $0.value.record == nil && $0.record?.storedHistoryDepth == 0 } : 0
  }
  private var replaced: Int { choice == .replace ? plan.existing.count : 0 }
  private var kept: Int { choice == .skip ? plan.existing.count : 0 }
  private var removed: Int { plan.items.count(where: \.isRemoved) }
  /// Also the keys that exist, if they are skipped.
  private var notImported: [PlainRecords.Part] {
    guard choice == .skip else { return plan.skipped }
    return plan.skipped
      + plan.existing.map {
        PlainRecords.Part(line: $0.value.line, name: $0.value.key, reason: "the key exists, and keeps its value")
      }
  }
  private var imported: Int { plan.items.count - removed - (choice == .replace ? 0 : plan.existing.count) }
  private var created: [String] { plan.groups.filter { $0.group == nil }.map(\.name.text) }

  var text: String {
    var text = ""
    if isDryRun {
      let rows = zip(plan.items, lengths).map { item, length in
        [
          item.exists ? "exists" : item.isRemoved ? "removed" : "new", name(of: item), item.kind.label,
          counted(length, "byte", "bytes"),
        ]
      }
      text += Table(rows: rows).text
    } else {
      text += counted(imported, "key", "keys") + " imported"
      text += replaced > 0 ? ", \(replaced) of them replaced" : kept > 0 ? ", \(kept) existing kept" : ""
      let services = listed(plan.services.map(displayed))
      text += removed > 0 ? ", \(counted(removed, "removed key", "removed keys"))" : ""
      text +=
        isOfServices && !plan.services.isEmpty ? ", service\(plan.services.count > 1 ? "s" : "") \(services)\n" : "\n"
      text += undoing
    }
    if format == .archive, !plan.groups.isEmpty {
      let groups = plan.groups.map { displayed($0.name.text) + ($0.group == nil ? " (new)" : "") }
      text += "access group\(groups.count == 1 ? "" : "s"): \(listed(groups))\n"
    }
    for part in notImported { text += "not imported: \(displayed(part.text))\n" }
    for part in plan.notes { text += "note: \(displayed(part.text))\n" }
    if let remainder, !isDryRun { text += "\(displayed(remainder)) still has the values in plain text\n" }
    return text
  }

  /// How the import is undone, and what does not come back.
  private var undoing: String {
    // Nothing of it would come back.
    let writes = imported == replaced && lost == replaced && removed == 0 && replaced > 0 ? [] : writes ?? []
    var lines = writes.map { write in
      let isDefault = groupOption == nil && write.group.name.text == AccessGroup.defaultName
      guard let argument = write.argument else {
        guard write.isUnbroken else {
          return "another program wrote to the access group \(displayed(write.group.name.text)) meanwhile: "
            + "the import cannot be undone as a whole"
        }
        return "the import into the access group \(displayed(write.group.name.text)) is larger than the journal, and "
          + "cannot be undone as a whole"
      }
      return UndoWrite.notice(argument, group: isDefault ? nil : write.group.name.text, vaultOptions)
        + (writes.count > 1 ? " into the access group \(displayed(write.group.name.text))" : "")
        + (!write.isInJournal && replaced > 0 ? ", but brings no expiry, label, comment or attribute back" : "")
    }
    if lost > 0 {
      lines.append(
        "\(counted(lost, "replaced key keeps", "replaced keys keep")) no earlier values: the replaced "
          + (lost == 1 ? "value is gone" : "values are gone"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The key, after its group and service if there are several.
  private func name(of item: ImportPlan.PlannedValue) -> String {
    (plan.groups.count > 1 ? displayed(item.group.text) + " " : "")
      + (plan.services.count > 1 ? displayed(item.service.text) + " " : "") + displayed(item.value.key)
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("service", plan.services.count == 1 ? .string(plan.services[0]) : .null),
      ("group", plan.groups.count == 1 ? .string(plan.groups[0].name.text) : .null),
      ("format", .string(format.rawValue)),
    ]
    if isDryRun {
      let keys = zip(plan.items, lengths).map { item, length in
        JSON.object([
          ("group", .string(item.group.text)), ("service", .string(item.service.text)),
          ("key", .string(item.value.key)), ("kind", .string(item.kind.label)),
          ("bytes", .unsigned(UInt64(length))), ("exists", .bool(item.exists)),
          ("removed", .bool(item.isRemoved)),
        ])
      }
      members.append(("keys", .array(keys)))
    } else {
      for (name, count) in [("imported", imported), ("replaced", replaced), ("kept", kept), ("removed", removed)] {
        members.append((name, .unsigned(UInt64(count))))
      }
      members.append(("revision", revision.map { .unsigned($0) } ?? .null))
      let writes = (writes ?? []).map { write in
        JSON.object([
          ("group", .string(write.group.name.text)), ("firstRevision", .unsigned(write.revisions.lowerBound)),
          ("lastRevision", .unsigned(write.revisions.upperBound)),
          ("undo", write.argument.map { .string($0) } ?? .null),
        ])
      }
      members.append(("writes", .array(writes)))
      members.append(("createdGroups", .array(created.map { .string($0) })))
      members.append(("plainText", remainder.map { .string($0) } ?? .null))
    }
    return .object(
      members + [
        ("notImported", .array(notImported.map(\.json))), ("notes", .array(plan.notes.map(\.json))),
      ])
  }
}
