internal import VaultCore

extension VaultAccess {
  /// Returns the path of the mark and clears it, for commands that work on the mark and open the vault without it.
  mutating func takeMark() throws(ToolError) -> String {
    guard let path = markPath else {
      throw .usage("no mark is given", hint: "name the file with --mark or $SECRETPREFS_MARK")
    }
    markPath = nil
    return path
  }
}

extension RollbackMark {
  /// The first bytes of a mark.
  static let start = Array("spv-mark-".utf8)

  /// Reads the mark. If it is broken, the error's hint says what to do with it.
  static func read(at path: String) throws -> RollbackMark {
    do throws(VaultError) { return try RollbackMark(at: path) } catch {
      guard error.code == .malformed else { throw error }
      let isMark = ExaminedPath(path).start(Self.start.count) == Self.start
      throw ToolError(error, message: error.message(about: path), hint: isMark ? Hints.brokenMark : Hints.otherMark)
    }
  }
}

extension Vault {
  /// Records that a change is durable, and warns if the mark could not be raised.
  func recordChange(by command: any WritingCommand.Type, _ messages: Messages) {
    Output.recordChange(by: command)
    guard let markFailure else { return }
    messages.warn("the change is durable, but the mark could not be raised (\(displayed(markFailure.message)))")
  }
}

extension MarkComparison {
  var text: String {
    Table(
      rows: lines.map { line in
        [
          line.group.map { "\(line.isLog ? "log of" : "group") \(displayed($0))" } ?? "owners' writes",
          line.state.rawValue, line.vault.map { "vault: \($0.words(line))" } ?? "",
          line.mark.map { "mark: \($0.words(line))" } ?? "",
        ]
      }
    ).text
  }

  var json: JSON {
    .object([
      ("id", .string(vaultID.description)), ("behind", .bool(refusal != nil)),
      (
        "lines",
        .array(
          lines.map { line in
            .object([
              ("group", line.group.map { .string($0) } ?? .null), ("log", .bool(line.isLog)),
              ("state", .string(line.state.rawValue)), ("vault", line.vault?.json ?? .null),
              ("mark", line.mark?.json ?? .null),
            ])
          })
      ),
    ])
  }
}

extension MarkComparison.Point {
  fileprivate func words(_ line: MarkComparison.Line) -> String {
    line.isLog ? "event \(generation)" : (epoch.map { "epoch \($0), " } ?? "") + "generation \(generation)"
  }

  fileprivate var json: JSON {
    let epoch: [(String, JSON)] = epoch.map { [("epoch", .unsigned(UInt64($0)))] } ?? []
    return .object(epoch + [("generation", .unsigned(generation))])
  }
}
