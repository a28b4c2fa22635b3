import Foundation

/// A sequence of commands and their output, in a file that reads like a terminal.
///
///     # a remark
///     % a shell line that prepares something and must succeed
///     $ a shell line, run in a fresh home, with its output in the lines below:
///     a line of standard output
///     \ no line feed at the end
///     ! a line of standard error
///     ? 64                                     (the exit code; 0 when there is none)
///
/// The home is written as `{home}`, times as `{time}`, times in the names of files as `{stamp}`, identifiers as `{id}`,
/// the first digits of a slot's as `{short}`, the number of a request's user as `{user}` or 0, libsodium's version as
/// `{sodium}`. With `RECORD_TRANSCRIPTS=1` the outputs in the source files are written anew, to be read before they are
/// kept.
struct Transcript {
  /// The text with every output as it is now.
  let replayed: String
  /// Everything written to standard error, and to standard output by commands that failed.
  let diagnostics: String

  init(_ text: String) throws {
    let home = try Scratch()
    var lines: [String] = []
    var diagnostics = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("#") {
        if lines.last.map({ !$0.isEmpty && !$0.hasPrefix("#") }) == true { lines.append("") }
        lines.append(line)
      } else if line.hasPrefix("% ") {
        lines.append(line)
        let outcome = try Tool.shell(String(line.dropFirst(2)), in: home)
        if outcome.exit != 0 { lines.append("preparation failed: \(outcome.errorText)") }
      } else if line.hasPrefix("$ ") {
        lines.append(line)
        let outcome = try Tool.shell(String(line.dropFirst(2)), in: home)
        lines += Self.answer(outcome, home)
        diagnostics += outcome.errorText + (outcome.exit == 0 ? "" : outcome.text)
      }
    }
    replayed = lines.joined(separator: "\n") + "\n"
    self.diagnostics = diagnostics
  }

  private static func answer(_ outcome: Tool.Outcome, _ home: Scratch) -> [String] {
    var lines: [String] = []
    if !outcome.output.isEmpty {
      var output = normal(outcome.text, home).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if output.last == "" { output.removeLast() } else { output.append("\\ no line feed at the end") }
      lines += output
    }
    for line in normal(outcome.errorText, home).split(separator: "\n") { lines.append("! " + line) }
    if outcome.exit != 0 { lines.append("? \(outcome.exit)") }
    return lines
  }

  static func normal(_ text: String, _ home: Scratch) -> String {
    DatabaseServer.normal(text).replacing(home.path, with: "{home}")
      .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z/, with: "{time}")
      .replacing(/\b20[2-9][0-9]{5}T[0-9]{6}Z(-[0-9]+(?=\.spv))?/, with: "{stamp}")
      // First, because a colon between two letters is no boundary of a word.
      .replacing(/\bspv-vault-1:[0-9a-f]{32}:[0-9a-f]{64}\b/, with: "spv-vault-1:{id}:{key}")
      // By the rules of Unicode, a dot between two digits is no boundary either.
      .replacing(/\b[0-9a-f]{32}\b/.wordBoundaryKind(.simple), with: "{id}")
      .replacing(/\b[0-9a-f]{64}\b/, with: "{key}")
      .replacing(/(^[* ] |\bslot |\bpublic key )[0-9a-f]{8}\b/.anchorsMatchLineEndings()) { $0.output.1 + "{short}" }
      .replacing(/"user":[0-9]+/, with: "\"user\":0")
      .replacing(#/  user [0-9]+  /#, with: "  user {user}  ")
      .replacing(/(libsodium[" :]*)1\.0\.[0-9]+/) { $0.output.1 + "{sodium}" }
  }
}
