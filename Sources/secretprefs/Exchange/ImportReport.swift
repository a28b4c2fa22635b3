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
  /// Whether the file says to which services the keys belong.
  private var isOfServices: Bool { format.helperService != nil || format == .records }
  /// The revision for `history undo`, which would leave earlier values of new keys behind.
  private var undo: UInt64? { plan.earlierCount == 0 ? revision : nil }
  private var replaced: Int { choice == .replace ? plan.existing.count : 0 }
  private var kept: Int { choice == .skip ? plan.existing.count : 0 }
  private var imported: Int { plan.items.count - (choice == .replace ? 0 : plan.existing.count) }

  var text: String {
    var text = ""
    if isDryRun {
      let rows = plan.items.map { item in
        [
          item.exists ? "exists" : "new", name(of: item), item.kind.label,
          counted(item.value.bytes.count, "byte", "bytes"),
        ]
      }
      text += Table(rows: rows).text
    } else {
      text += counted(imported, "key", "keys") + " imported"
      text += replaced > 0 ? ", \(replaced) of them replaced" : kept > 0 ? ", \(kept) existing kept" : ""
      let services = listed(plan.services.map(displayed))
      text += isOfServices ? ", service\(plan.services.count > 1 ? "s" : "") \(services)\n" : "\n"
      text += UndoImport.notice(undo ?? 0, group: groupOption)
    }
    for part in plan.skipped { text += "not imported: \(displayed(part.text))\n" }
    for part in plan.notes { text += "note: \(displayed(part.text))\n" }
    if let remainder, !isDryRun { text += "\(displayed(remainder)) still has the values in plain text\n" }
    return text
  }

  /// The key, after its service if there are several.
  private func name(of item: ImportPlan.PlannedValue) -> String {
    (plan.services.count > 1 ? displayed(item.service.text) + " " : "") + displayed(item.value.key)
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("service", plan.services.count == 1 ? .string(plan.services[0]) : .null),
      ("group", .string(plan.group.name.text)),
      ("format", .string(format.rawValue)),
    ]
    if isDryRun {
      let keys = plan.items.map { item in
        JSON.object([
          ("service", .string(item.service.text)), ("key", .string(item.value.key)), ("kind", .string(item.kind.label)),
          ("bytes", .unsigned(UInt64(item.value.bytes.count))), ("exists", .bool(item.exists)),
        ])
      }
      members.append(("keys", .array(keys)))
    } else {
      for (name, count) in [("imported", imported), ("replaced", replaced), ("kept", kept)] {
        members.append((name, .unsigned(UInt64(count))))
      }
      members.append(("revision", undo.flatMap { $0 > 0 ? .unsigned($0) : nil } ?? .null))
      members.append(("plainText", remainder.map { .string($0) } ?? .null))
    }
    return .object(
      members + [
        ("notImported", .array(plan.skipped.map(\.json))), ("notes", .array(plan.notes.map(\.json))),
      ])
  }
}
