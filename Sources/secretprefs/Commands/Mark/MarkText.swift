internal import VaultCore

extension VaultAccess {
  /// Takes the mark that an option names.
  mutating func setMark(_ path: String) throws(ToolError) {
    guard !path.isEmpty else { throw .usage("--mark is empty") }
    markPath = path
  }

  /// The path of the mark, for work on the mark itself: the vault is then opened without it.
  mutating func takeMark() throws(ToolError) -> String {
    guard let path = markPath else {
      throw .usage("no mark is named", hint: "--mark or $SECRETPREFS_MARK names the file")
    }
    markPath = nil
    return path
  }
}

extension RollbackMark {
  /// Reads the mark, and says of a broken one what becomes of it.
  static func read(at path: String) throws -> RollbackMark {
    do throws(VaultError) { return try RollbackMark(at: path) } catch {
      guard error.code == .malformed else { throw error }
      throw ToolError(error, hint: Hints.brokenMark)
    }
  }
}

extension Vault {
  /// Notes that something was just written, and warns when the mark could not follow.
  func noteChange(_ messages: Messages) {
    Output.noteChange()
    guard let markFailure else { return }
    messages.warn("what was written is durable, but the mark could not be raised (\(displayed(markFailure.message)))")
  }
}

extension MarkComparison {
  var text: String {
    Table(
      rows: lines.map { line in
        [
          line.group.map { "group \(displayed($0))" } ?? "owners' writes", line.state.rawValue,
          line.vault.map { "vault: \($0.words)" } ?? "", line.mark.map { "mark: \($0.words)" } ?? "",
        ]
      }
    ).text
  }

  var json: JSON {
    .object([
      ("id", .string(vaultID.description)), ("behind", .bool(isBehind)),
      (
        "lines",
        .array(
          lines.map { line in
            .object([
              ("group", line.group.map { .string($0) } ?? .null), ("state", .string(line.state.rawValue)),
              ("vault", line.vault?.json ?? .null), ("mark", line.mark?.json ?? .null),
            ])
          })
      ),
    ])
  }
}

extension MarkComparison.Point {
  fileprivate var words: String { (epoch.map { "epoch \($0), " } ?? "") + "generation \(generation)" }

  fileprivate var json: JSON {
    let epoch: [(String, JSON)] = epoch.map { [("epoch", .unsigned(UInt64($0)))] } ?? []
    return .object(epoch + [("generation", .unsigned(generation))])
  }
}
