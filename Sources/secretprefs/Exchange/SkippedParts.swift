internal import DurableFiles
internal import VaultCore

/// The bad parts of a file that `--skip` leaves out: all, or those of a list.
struct SkippedParts {
  /// The value of `--skip` without a list.
  static let all = "all"
  private static let longestList = 16 << 20

  private var skipsAll = false
  private var lines: [(item: String, range: ClosedRange<Int>)] = []
  private var names: Set<String> = []

  /// Whether nothing is left out.
  var isEmpty: Bool { !skipsAll && lines.isEmpty && names.isEmpty }

  /// - Parameter list: `all`, or `@` and the path of a file with one item in each line, or items between commas. An
  ///   item is the number of a line, two numbers with a hyphen, or the name that the report gives, which may be such
  ///   numbers if the source has no lines. `nil` leaves out nothing.
  init(_ list: String?) throws {
    guard let list else { return }
    guard list != Self.all else {
      skipsAll = true
      return
    }
    for item in try Self.items(of: list) {
      guard let range = Self.range(item), let first = range.first, let last = range.last else {
        names.insert(item)
        continue
      }
      lines.append((item, first...last))
    }
    guard !lines.isEmpty || !names.isEmpty else { throw ToolError.usage("--skip has an empty list") }
  }

  private static func items(of list: String) throws -> [String] {
    guard list.hasPrefix("@") else {
      return list.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0).trimmingBlanks) }
    }
    let path = String(list.dropFirst())
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY) { .io("\(path): open the list", $0) }
    defer { extendLifetime(file) }
    let text = try PlainInput.whole(file.raw, atMost: longestList, "\(path): read the list")
    // Windows begins a text with a byte order mark.
    let items = text.withUnsafeBytes { bytes in
      String(decoding: bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0), as: UTF8.self)
    }
    return items.split(whereSeparator: \.isNewline).map { String($0.trimmingBlanks) }.filter { !$0.isEmpty }
  }

  /// The lines of `7` and of `5-9`; empty if the end is before the beginning, and `nil` for a name.
  private static func range(_ item: String) -> Range<Int>? {
    let ends = item.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count <= 2, ends.allSatisfy({ (1...9).contains($0.utf8.count) && $0.utf8.allSatisfy(isDigit) }),
      let first = Int(ends[0]), let last = Int(ends[ends.count - 1]), first > 0
    else { return nil }
    return first <= last ? first..<last + 1 : first..<first
  }

  /// Whether an item of a list stands for an entry of this name, also one that is copied from a terminal.
  static func isItem(_ name: String) -> Bool {
    guard let first = name.utf8.first, !"@-".utf8.contains(first), name != all else { return false }
    return !name.utf8.contains(UInt8(ascii: ",")) && name[...].trimmingBlanks == name && displayed(name) == name
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Divides the faults of a file.
  /// - Throws: ``ToolError`` if the list has an item that no fault has: it is not the list of this file.
  func divide(_ faults: [PlainFault]) throws(ToolError) -> (skipped: [PlainFault], remaining: [PlainFault]) {
    let listed = LineRanges(lines.map(\.range))
    let numbers = Set(lines.map(\.item))
    var used: Set<String> = []
    var skipped: [PlainFault] = []
    var remaining: [PlainFault] = []
    for fault in faults {
      let isNamed = names.contains(fault.name) || fault.line == 0 && numbers.contains(fault.name)
      if isNamed { used.insert(fault.name) }
      if skipsAll || isNamed || listed.overlaps(fault.lines) { skipped.append(fault) } else { remaining.append(fault) }
    }
    let bad = LineRanges(faults.map(\.lines))
    let wrong = lines.first { !used.contains($0.item) && !bad.overlaps($0.range) }.map { "line \($0.range.lowerBound)" }
    let unused = names.subtracting(used)
    guard wrong != nil || !unused.isEmpty else { return (skipped, remaining) }
    guard !unused.contains(where: { Self.range($0) != nil }) else {
      throw .usage("--skip has a range whose end is before its beginning")
    }
    throw .usage("--skip names \(wrong ?? "an entry"), which is not bad", hint: Self.hint(faults))
  }

  private static func hint(_ faults: [PlainFault]) -> String {
    faults.isEmpty
      ? "\"secretprefs import --dry-run\" lists the bad ones" : "\(option(faults)) leaves out all that is bad"
  }

  /// The option that leaves out these parts.
  static func option(_ faults: [PlainFault]) -> String {
    var items: [String] = []
    for item in faults.prefix(20).compactMap(\.item) where !items.contains(item) { items.append(item) }
    let isShort = faults.count <= 20 && faults.allSatisfy { $0.item != nil }
    return "--skip " + (isShort ? shellWord(items.joined(separator: ",")) : all)
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    return start[..<(start.lastIndex { $0 != " " && $0 != "\t" }.map(start.index(after:)) ?? start.startIndex)]
  }
}
