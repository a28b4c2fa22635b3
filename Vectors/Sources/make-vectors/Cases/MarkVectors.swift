/// Marks with lines of logs (annex B), beside a vault that they know.
struct MarkVectors {
  let name: String
  let about: String
  /// How opening the vault with the mark is refused.
  let refusal: Refusal?
  let change: (inout [String], LogScene) -> Void

  static var all: [MarkVectors] {
    [
      .init("none", "no line of a log", nil) { _, _ in },
      .init("one", "a line of the group's log", nil) { $0.append(line($1)) },
      .init("two", "lines of both groups' logs", nil) {
        $0.append(line($1, group: 0))
        $0.append(line($1))
      },
      .init("last", "the greatest number", nil) { $0.append(line($1, number: "\(1 << 50 - 1)")) },
      .init("order", "lines that fall", .malformed) {
        $0.append(line($1))
        $0.append(line($1, group: 0))
      },
      .init("twice", "two lines of one log", .malformed) {
        $0.append(line($1))
        $0.append(line($1))
      },
      .init("before-groups", "a log before the groups", .malformed) { $0.insert(line($1), at: 3) },
      .init("number-zero", "number 0", .malformed) { $0.append(line($1, number: "0")) },
      .init("number-leading-zero", "a zero in front", .malformed) { $0.append(line($1, number: "020")) },
      .init("number-sign", "a sign in front", .malformed) { $0.append(line($1, number: "+20")) },
      .init("number-2-50", "number 2^50", .malformed) { $0.append(line($1, number: "\(1 << 50)")) },
      .init("number-none", "no number", .malformed) { $0.append(line($1, number: "")) },
      .init("number-letters", "a number of hex digits", .malformed) { $0.append(line($1, number: "1f")) },
      .init("tag-short", "a tag of 62 digits", .malformed) { $0.append(String(line($1).dropLast(2))) },
      .init("tag-upper-case", "a tag in upper case", .malformed) {
        $0.append(line($1, tag: String(repeating: "AB", count: 32)))
      },
      .init("space-behind", "a space at the end", .malformed) { $0.append(line($1) + " ") },
      .init("space-twice", "two spaces", .malformed) { $0.append(line($1).replacing("log ", with: "log  ")) },
      .init("carriage-return", "a carriage return", .malformed) { $0.append(line($1) + "\r") },
      .init("unknown-line", "a line of another word", .malformed) {
        $0.append(line($1).replacing("log ", with: "logs "))
      },
    ]
  }

  init(
    _ name: String, _ about: String, _ refusal: Refusal?, _ change: @escaping (inout [String], LogScene) -> Void
  ) {
    self.name = name
    self.about = about
    self.refusal = refusal
    self.change = change
  }

  func json(_ store: (String, Bytes) throws -> String) throws -> JSON {
    let scene = LogScene()
    var lines = Mark(scene.draft).lines
    change(&lines, scene)
    var members: [(String, JSON)] = [
      ("name", .text(name)), ("about", .text(about)),
      ("file", .text(try store("marked.spv", scene.draft.forged().file))), ("credential", Credential.owner.json),
      ("mark", .text(lines.joined(separator: "\n") + "\n")),
    ]
    if let refusal { members.append(("error", .text(refusal.rawValue))) }
    return .object(members)
  }

  private static func line(
    _ scene: LogScene, group: Int = LogScene.group, number: String = "20", tag: String = Bytes.run(from: 1).hexadecimal
  ) -> String {
    "log \(scene.draft.groups[group].id.hexadecimal) \(number) \(tag)"
  }
}
