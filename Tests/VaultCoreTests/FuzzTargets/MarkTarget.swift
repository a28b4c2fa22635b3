@testable import VaultCore

/// The text of a mark: read as annex B of `Docs/Format.md` writes it, and as nothing else.
struct MarkTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    let mark: RollbackMark
    do throws(VaultError) { mark = try RollbackMark(parsing: bytes) } catch {
      try demand(error.code == .malformed, "a mark is refused as \(error)")
      return try demand(!Self.isMark(bytes), "a mark is refused")
    }
    try demand(Self.isMark(bytes), "what is no mark is accepted")
    try demand(Array(mark.text.utf8) == bytes, "a mark is not written as it was read")
    try mark.check(mark)
    try demand(try mark.raised(to: mark) == mark, "a mark is raised by what it is")
  }

  private static func isMark(_ bytes: [UInt8]) -> Bool {
    guard bytes.last == 0x0A else { return false }
    var lines = bytes.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      line.split(separator: 0x20, omittingEmptySubsequences: false).map(Array.init)
    }
    guard lines.count >= 2, lines[0] == [Array("spv-mark-1".utf8)],
      isLine(lines[1], "vault", [{ isHexadecimal($0, 16) }])
    else { return false }
    lines.removeFirst(2)
    let isTag = { isHexadecimal($0, 32) }
    if let first = lines.first, isLine(first, "owner", [{ isNumber($0, UInt64.self) }, isTag]) { lines.removeFirst() }
    let isGroup = { (line: [[UInt8]]) in
      isLine(
        line, "group",
        [{ isHexadecimal($0, 16) }, { isNumber($0, UInt32.self) }, { isNumber($0, UInt64.self) }, isTag])
    }
    return lines.allSatisfy(isGroup)
      && zip(lines, lines.dropFirst()).allSatisfy { $0[1].lexicographicallyPrecedes($1[1]) }
  }

  private static func isLine(_ fields: [[UInt8]], _ name: String, _ rules: [([UInt8]) -> Bool]) -> Bool {
    fields.count == rules.count + 1 && fields[0] == Array(name.utf8)
      && zip(fields.dropFirst(), rules).allSatisfy { field, rule in rule(field) }
  }

  private static func isHexadecimal(_ text: [UInt8], _ count: Int) -> Bool {
    text.count == 2 * count && text.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
  }

  private static func isNumber<Number: FixedWidthInteger>(_ text: [UInt8], _: Number.Type) -> Bool {
    Number(String(decoding: text, as: UTF8.self)).map { Array("\($0)".utf8) == text } ?? false
  }
}
