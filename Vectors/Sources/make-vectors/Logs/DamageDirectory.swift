import FoundationEssentials

/// A directory of vaults with logs that another implementation wrote.
///
/// `logged` has a line for each: the vault's file, the text of the key, and the group, with tabs between. The log's
/// files are beside the vault; `<vault>.headers` has earlier headers of the current file.
enum DamageDirectory {
  /// Verifies the logs as they are and with `count` random damages, and writes what this reader finds as the manifest
  /// of another directory.
  static func write(_ directory: String, to out: String, seed: String, count: Int) throws {
    try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
    var logs: [JSON] = []
    let lines = String(decoding: try bytes(directory + "/logged"), as: UTF8.self).split(separator: "\n")
    for line in lines {
      let parts = line.split(separator: "\t").map(String.init)
      let log = try Logged(directory, file: parts[0], key: parts[1], group: parts[2])
      logs.append(try log.json("whole", log.handedOver, log.current, to: out))
      for number in 0..<count {
        var damage = LogDamage(
          handedOver: log.handedOver, current: log.current, headers: log.headers, place: log.knowledge.place,
          seed: "\(seed) \(parts[0]) \(number)")
        damage.damage()
        logs.append(try log.json("damage-\(number)", damage.handedOver, damage.current, to: out))
      }
    }
    let manifest = JSON.object([("format", .number(1)), ("vectors", .list([])), ("logs", .list(logs))])
    try Data((manifest.written() + "\n").utf8).write(to: URL(filePath: out + "/manifest.json"))
  }

  private struct Logged {
    let file: String
    let vault: Bytes
    let credential: Credential
    let group: String
    let handedOver: [Bytes]
    let current: Bytes?
    let headers: [Bytes]
    let knowledge: LogVerification.Knowledge

    init(_ directory: String, file: String, key: String, group: String) throws {
      self.file = file
      self.group = group
      vault = try bytes(directory + "/" + file)
      credential = .key(try ReadDirectory.key(key))
      var knowledge = try ReadVault(vault).logKnowledge(
        credential, group: Bytes(group), deviceKey: Credential.deviceKey)
      let boot = String(decoding: try bytes("/proc/sys/kernel/random/boot_id"), as: UTF8.self)
      knowledge.boot = Sealing.hash(32, Bytes(String(boot.prefix(36))))
      self.knowledge = knowledge
      let name = "\(directory)/\(file).audit-\(knowledge.place.group.hexadecimal)"
      var handedOver: [Bytes] = []
      // The writer begins with 1 and has removed none.
      for number in 1...99 {
        let path = "\(name).\(String(repeating: "0", count: number < 10 ? 5 : 4))\(number)"
        guard FileManager.default.fileExists(atPath: path) else { break }
        handedOver.append(try bytes(path))
      }
      self.handedOver = handedOver
      current = try bytes(name)
      let headers = try bytes("\(directory)/\(file).headers")
      self.headers = stride(from: 0, to: headers.count, by: LogHeader.count).map {
        Bytes(headers[$0..<$0 + LogHeader.count])
      }
    }

    func json(_ name: String, _ handedOver: [Bytes], _ current: Bytes?, to out: String) throws -> JSON {
      let findings = LogVerification(handedOver: handedOver, current: current, knowledge).findings
      let name = "\(file).\(name)"
      try store(file, vault, in: out)
      var logs: [JSON] = []
      for (index, bytes) in handedOver.enumerated() {
        let number = String(index + 1)
        let suffix = "." + String(repeating: "0", count: 6 - number.count) + number
        try store(name + suffix, bytes, in: out)
        logs.append(.list([.text(suffix), .text(name + suffix)]))
      }
      if let current {
        try store(name, current, in: out)
        logs.append(.list([.text(""), .text(name)]))
      }
      return .object([
        ("name", .text(name)), ("file", .text(file)), ("credential", credential.json), ("group", .text(group)),
        ("logs", .list(logs)), ("exit", .text(LogFinding.exit(findings) ?? "ok")),
        ("findings", .list(findings.map(\.json))),
      ])
    }

    private func store(_ name: String, _ bytes: Bytes, in out: String) throws {
      try Data(bytes).write(to: URL(filePath: out + "/" + name))
    }
  }

  private static func bytes(_ path: String) throws -> Bytes {
    guard let file = FileManager.default.contents(atPath: path) else { throw Cursor.Unreadable(part: path) }
    return Bytes(file)
  }
}
