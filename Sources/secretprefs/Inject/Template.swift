internal import Preferences
internal import VaultCore

/// Text with references to values, as `{{ secret://service/key }}`. A reference in quotes stands for its own text. All
/// other text is passed on byte for byte.
enum Template {
  /// The maximum length of a template, and that of what is made of it, in bytes: both are in memory as a whole, and a
  /// short reference can stand for a value of 16 MiB.
  static let longest = 16 << 20
  static let longestOutput = 64 << 20

  /// Copies `template` to `output`. Calls `write` in place of each reference.
  ///
  /// - Returns: The number of references.
  /// - Throws: The error of the first reference that is malformed, or whose `write` throws, or with which the output
  ///   becomes too long, with its line.
  static func fill(
    _ template: UnsafeRawBufferPointer, into output: GuardedBuffer, _ write: (SecretReference) throws -> Void
  ) throws -> Int {
    var (rest, line, count) = (template[...], 1, 0)
    while let start = start(in: rest) {
      let text = UnsafeRawBufferPointer(rebasing: rest[..<start.brace])
      try output.append(text)
      line += text.count { $0 == newline }
      rest = rest[start.name...]
      do {
        guard let end = end(in: rest, isQuoted: start.isQuoted) else { throw SecretReference.malformed }
        let reference = try SecretReference(rest[..<end.name])
        if start.isQuoted {
          try output.append("{{ \(SecretReference.scheme)")
          try output.append(UnsafeRawBufferPointer(rebasing: rest[..<end.name]))
          try output.append(" }}")
        } else {
          try write(reference)
          count += 1
        }
        try check(output)
        rest = rest[end.brace...]
      } catch { throw ToolError(thrown: error).about("line \(line)") }
    }
    try output.append(UnsafeRawBufferPointer(rebasing: rest))
    try check(output)
    return count
  }

  private static func check(_ output: GuardedBuffer) throws(PreferencesError) {
    guard output.count <= longestOutput else {
      throw PreferencesError(.limitExceeded, "the output has more than \(longestOutput) bytes")
    }
  }

  private static let newline = UInt8(ascii: "\n")

  private static let quote = UInt8(ascii: "\"")

  /// Where the first reference's braces begin, whether it is in quotes, and where its scheme ends.
  private static func start(in text: Slice<UnsafeRawBufferPointer>) -> (brace: Int, isQuoted: Bool, name: Int)? {
    var text = text
    while let brace = text.firstIndex(of: UInt8(ascii: "{")) {
      text = text[(brace + 1)...]
      guard text.first == UInt8(ascii: "{") else { continue }
      var inner = text.dropFirst().drop(while: SourceText.isBlank)
      let isQuoted = inner.first == quote
      if isQuoted { inner = inner.dropFirst() }
      if inner.starts(with: SecretReference.scheme.utf8) {
        return (brace, isQuoted, inner.startIndex + SecretReference.scheme.utf8.count)
      }
    }
    return nil
  }

  /// Where the reference's name ends, and where the text after its braces begins. Both braces are on the line of the
  /// reference.
  private static func end(
    in text: Slice<UnsafeRawBufferPointer>, isQuoted: Bool
  ) -> (name: Int, brace: Int)? {
    let name = text.prefix { !SourceText.isBlank($0) && $0 != UInt8(ascii: "}") && $0 != quote && $0 != newline }
    var braces = text[name.endIndex...]
    guard !isQuoted || braces.popFirst() == quote else { return nil }
    braces = braces.drop(while: SourceText.isBlank)
    guard braces.starts(with: "}}".utf8) else { return nil }
    return (name.endIndex, braces.startIndex + 2)
  }
}
