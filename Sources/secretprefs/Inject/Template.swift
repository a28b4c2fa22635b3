internal import Preferences
internal import VaultCore

/// Text with references to values, as `{{ secret://service/key }}`. A reference in quotes stands for its own text. All
/// other text is passed on byte for byte.
enum Template {
  /// The maximum length of a template, and that of what is made of it, in bytes: both are in memory as a whole, and a
  /// short reference can stand for a value of 16 MiB.
  static let longest = 16 << 20
  static let longestOutput = 64 << 20

  /// A place in a template where a reference begins.
  struct Match {
    let line: Int
    /// Whether it stands for its own text.
    let isQuoted: Bool
    /// Where the reference is, with its scheme.
    let text: Range<Int>
    let result: Result<SecretReference, SecretReference.Fault>

    /// For errors: the line, and the reference if it is one.
    var place: String {
      switch result {
      case .success(let reference): "line \(line), \(displayed(reference.text))"
      case .failure: "line \(line)"
      }
    }
  }

  /// Copies `template` to `output`. Calls `write` in place of each reference.
  ///
  /// - Returns: The number of references.
  /// - Throws: The error of the first reference that is malformed, or whose `write` throws, or with which the output
  ///   becomes too long, with its line.
  static func fill(
    _ template: UnsafeRawBufferPointer, into output: GuardedBuffer, _ write: (SecretReference) throws -> Void
  ) throws -> Int {
    var count = 0
    try scan(template) {
      try output.append(UnsafeRawBufferPointer(rebasing: template[$0]))
    } reference: { match in
      do {
        let reference = try match.result.mapError(\.error).get()
        if match.isQuoted {
          try output.append("{{ ")
          try output.append(UnsafeRawBufferPointer(rebasing: template[match.text]))
          try output.append(" }}")
        } else {
          try write(reference)
          count += 1
        }
        try check(output)
      } catch { throw ToolError(thrown: error).about(match.place) }
    }
    try check(output)
    return count
  }

  /// Whether a reference in braces begins somewhere, also one that is malformed.
  static func hasReference(_ template: UnsafeRawBufferPointer) -> Bool { start(in: template[...]) != nil }

  /// Calls `reference` with each reference of a template, also with each that is malformed, and `text` with all that is
  /// between them.
  static func scan(
    _ template: UnsafeRawBufferPointer, text: (Range<Int>) throws -> Void, reference: (Match) throws -> Void
  ) throws {
    var (rest, line) = (template[...], 1)
    while let start = start(in: rest) {
      let before = rest.startIndex..<start.brace
      try text(before)
      line += template[before].count { $0 == newline }
      rest = rest[start.name...]
      let end = end(in: rest, isQuoted: start.isQuoted)
      let name = start.name..<(end?.name ?? start.name)
      let result = Result { () throws(SecretReference.Fault) in
        guard end != nil, start.isBlank else { throw .braces }
        return try SecretReference(template[name])
      }
      line += template[start.brace..<start.name].count { $0 == newline }
      try reference(Match(line: line, isQuoted: start.isQuoted, text: name, result: result))
      if case .success = result, let end { rest = rest[end.brace...] }
    }
    try text(rest.startIndex..<rest.endIndex)
  }

  private static func check(_ output: GuardedBuffer) throws(PreferencesError) {
    guard output.count <= longestOutput else {
      throw PreferencesError(.limitExceeded, "the output has more than \(longestOutput) bytes")
    }
  }

  private static let newline = UInt8(ascii: "\n")

  /// Whether a byte is any white space of ASCII. Between the braces and a reference only blanks are right.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }

  private static let quote = UInt8(ascii: "\"")

  private struct Start {
    let brace: Int
    /// Whether nothing but blanks is between the braces and the reference: no line end, and no sign by which other
    /// programs remove the blanks around the braces.
    let isBlank: Bool
    let isQuoted: Bool
    let name: Int
  }

  /// Where the first reference begins: its braces, and its text.
  private static func start(in text: Slice<UnsafeRawBufferPointer>) -> Start? {
    var text = text
    while let brace = text.firstIndex(of: UInt8(ascii: "{")) {
      text = text[(brace + 1)...]
      guard text.first == UInt8(ascii: "{") else { continue }
      var inner = text.dropFirst()
      let isTrimming = inner.first.map { "-~".utf8.contains($0) } ?? false
      let space = inner.dropFirst(isTrimming ? 1 : 0).prefix(while: isSpace)
      inner = inner[space.endIndex...]
      let isQuoted = inner.first == quote
      if isQuoted { inner = inner.dropFirst() }
      if SecretReference.isMeant(inner) {
        let isBlank = !isTrimming && space.allSatisfy(InputText.isBlank)
        return Start(brace: brace, isBlank: isBlank, isQuoted: isQuoted, name: inner.startIndex)
      }
    }
    return nil
  }

  /// Where the reference's name ends, and where the text after its braces begins. Both braces are on the line of the
  /// reference. Those of another one end the search, so that no text is read again for each reference.
  private static func end(
    in text: Slice<UnsafeRawBufferPointer>, isQuoted: Bool
  ) -> (name: Int, brace: Int)? {
    var last: UInt8 = 0
    let name = text.prefix { byte in
      defer { last = byte }
      return !InputText.isBlank(byte) && byte != UInt8(ascii: "}") && byte != quote && byte != newline
        && (byte != UInt8(ascii: "{") || last != byte)
    }
    var braces = text[name.endIndex...]
    guard !isQuoted || braces.popFirst() == quote else { return nil }
    braces = braces.drop(while: InputText.isBlank)
    guard braces.starts(with: "}}".utf8) else { return nil }
    return (name.endIndex, braces.startIndex + 2)
  }
}
