internal import VaultCore

/// What an import did or, in a dry run, would do. Has no values.
struct ImportReport {
  let plan: ImportPlan
  let format: PlainFormat
  let choice: ImportPlan.ConflictChoice
  /// The revision of the imported keys, or 0 if there are none; `nil` in a dry run.
  let revision: UInt64?
  /// The access group, if an option names it.
  let groupOption: String?
  /// The path of the plain file that still has the values.
  let remainder: String?

  private var isDryRun: Bool { revision == nil }
  private var replaced: Int { choice == .replace ? plan.existing.count : 0 }
  private var kept: Int { choice == .skip ? plan.existing.count : 0 }
  private var imported: Int { plan.items.count - (choice == .replace ? 0 : plan.existing.count) }

  var text: String {
    var text = ""
    if isDryRun {
      let rows = plan.items.map { item in
        [
          item.exists ? "exists" : "new", displayed(item.value.key), item.kind.label,
          counted(item.value.bytes.count, "byte", "bytes"),
        ]
      }
      text += Table(rows: rows).text
    } else {
      text += counted(imported, "key", "keys") + " imported"
      text += replaced > 0 ? ", \(replaced) of them replaced" : kept > 0 ? ", \(kept) existing kept" : ""
      text += format.helperService == nil ? "\n" : ", service \(displayed(plan.place.service.text))\n"
      text += UndoImport.notice(revision ?? 0, group: groupOption)
    }
    for part in plan.skipped { text += "not imported: \(displayed(part.text))\n" }
    for part in plan.notes { text += "note: \(displayed(part.text))\n" }
    if let remainder, !isDryRun { text += "\(displayed(remainder)) still has the values in plain text\n" }
    return text
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("service", .string(plan.place.service.text)), ("group", .string(plan.group.name.text)),
      ("format", .string(format.rawValue)),
    ]
    if isDryRun {
      let keys = plan.items.map { item in
        JSON.object([
          ("key", .string(item.value.key)), ("kind", .string(item.kind.label)),
          ("bytes", .unsigned(UInt64(item.value.bytes.count))), ("exists", .bool(item.exists)),
        ])
      }
      members.append(("keys", .array(keys)))
    } else {
      for (name, count) in [("imported", imported), ("replaced", replaced), ("kept", kept)] {
        members.append((name, .unsigned(UInt64(count))))
      }
      members.append(("revision", revision.flatMap { $0 > 0 ? .unsigned($0) : nil } ?? .null))
      members.append(("plainText", remainder.map { .string($0) } ?? .null))
    }
    return .object(
      members + [
        ("notImported", .array(plan.skipped.map(\.json))), ("notes", .array(plan.notes.map(\.json))),
      ])
  }
}
