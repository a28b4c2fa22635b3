internal import DurableFiles
internal import Preferences
internal import VaultCore

/// The operation of `export --format archive`.
struct ArchiveExport {
  /// The new file; `nil` for standard output.
  let file: String?
  let access: VaultAccess
  let isJSON: Bool

  func perform(by command: any WritingCommand.Type, _ messages: Messages) throws {
    let vault = try access.open(messages)
    let archive = try write(vault)
    if file != nil { Output.recordChange(by: command) }
    for part in archive.unopened {
      messages.warn("not in the archive: \(part.text): \(displayed(part.error.message))")
    }
    if archive.recordCount + archive.removedCount > PlainRecords.most {
      messages.warn("\"secretprefs import\" reads archives of at most \(PlainRecords.most) keys")
    }
    if let file, isJSON {
      try Output.write(
        .object([
          ("service", .null), ("file", .string(file)), ("exported", .unsigned(UInt64(archive.recordCount))),
          ("removed", .unsigned(UInt64(archive.removedCount))), ("groups", .unsigned(UInt64(archive.groupCount))),
          ("unopened", .array(archive.unopened.map { .object($0.members) })),
        ]))
    }
    // A group of other holders is not a fault of the vault.
    guard let first = archive.unopened.first(where: { $0.error.code != .groupNotGranted }) else { return }
    throw ToolError(
      first.error, message: "the archive is written without what does not open: \(displayed(first.error.message))")
  }

  private func write(_ vault: Vault) throws -> Archive {
    let now = access.options.now()
    guard let file else {
      var archive = try Archive(of: vault, to: try SecretOutput())
      try archive.write(at: now)
      return archive
    }
    var written: Archive?
    var failure: (any Error)?
    do throws(PreferencesError) {
      try FileReplacement(file, isPrivate: true).create { (descriptor) throws(PreferencesError) in
        do {
          var archive = try Archive(of: vault, to: try SecretOutput(to: (descriptor, "\(file): write the archive")))
          try archive.write(at: now)
          written = archive
        } catch {
          failure = error
          throw PreferencesError(.unwritable, "the archive is not complete")
        }
      }
    } catch { throw failure ?? error.about(file) }
    guard let written else { throw PreferencesError(.unwritable, "the archive is not complete").about(file) }
    return written
  }
}
