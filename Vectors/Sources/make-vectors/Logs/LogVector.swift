/// A vault with a log, and what a verification must find.
struct LogVector {
  let name: String
  let about: String
  /// What a verification finds.
  let findings: [LogFinding]
  let build: (inout LogScene) -> Void

  init(_ name: String, _ about: String, _ findings: [LogFinding], _ build: @escaping (inout LogScene) -> Void) {
    self.name = name
    self.about = about
    self.findings = findings.sorted(by: LogFinding.precedes)
    self.build = build
  }

  init(_ name: String, _ about: String, _ findings: LogFinding..., build: @escaping (inout LogScene) -> Void) {
    self.init(name, about, findings, build)
  }

  /// Writes the files that no vector before has, and gives the vector's part of the manifest.
  func json(_ store: (_ name: String, Bytes) throws -> String) throws -> JSON {
    var scene = LogScene()
    build(&scene)
    let file = scene.draft.forged().file
    let (handedOver, current) = scene.logFiles
    var found: [LogFinding] = []
    try scene.verify(file) { found = $0.findings }
    guard found == findings else {
      throw Mismatch(description: "\(name): expected \(findings.map(\.json)), found \(found.map(\.json))")
    }
    var logs: [JSON] = []
    for (number, bytes) in handedOver {
      let suffix = "." + String(repeating: "0", count: max(0, 6 - String(number).count)) + String(number)
      logs.append(.list([.text(suffix), .text(try store(name + ".audit" + suffix, bytes))]))
    }
    if let current { logs.append(.list([.text(""), .text(try store(name + ".audit", current))])) }
    var members: [(String, JSON)] = [
      ("name", .text(name)), ("about", .text(about)), ("file", .text(try store(name + ".spv", file))),
      ("credential", scene.credential.json),
      ("group", .text(String(decoding: scene.draft.groups[LogScene.group].name, as: UTF8.self))),
      ("logs", .list(logs)),
    ]
    if scene.mark != nil { members.append(("mark", .text(scene.markText()))) }
    members.append(("exit", .text(LogFinding.exit(findings) ?? "ok")))
    members.append(("findings", .list(findings.map(\.json))))
    if scene.listsEvents {
      try scene.verify(file) { verification in
        members.append(("events", .list(verification.events.map { Self.json($0.number, $0.epoch, $0.event) })))
      }
    }
    return .object(members)
  }

  private struct Mismatch: Error, CustomStringConvertible { let description: String }

  private static func json(_ number: UInt64, _ epoch: UInt32, _ event: LogEvent?) -> JSON {
    var members: [(String, JSON)] = [("number", .number(number)), ("epoch", .number(epoch))]
    if let event {
      members += [
        ("time", .number(event.time)), ("action", .number(event.action)), ("flags", .number(event.flags)),
        ("uid", .number(event.uid)), ("pid", .number(event.pid)), ("slot", .text(event.slot.hexadecimal)),
        ("lost", .number(event.lost)), ("program", .text(String(decoding: event.program, as: UTF8.self))),
        ("service", .text(String(decoding: event.service, as: UTF8.self))),
        ("key", .text(String(decoding: event.key, as: UTF8.self))),
      ]
    }
    return .object(members)
  }
}
