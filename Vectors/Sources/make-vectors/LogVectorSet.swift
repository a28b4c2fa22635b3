import FoundationEssentials

/// The set of logs, of vaults that are logged, and of marks that know of logs.
enum LogVectorSet {
  static func write(to directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var stored: [Bytes: String] = [:]
    var names: Set<String> = []
    /// A file that an earlier vector has is not written again.
    func store(_ name: String, _ bytes: Bytes) throws -> String {
      if let earlier = stored[bytes] { return earlier }
      precondition(names.insert(name).inserted, "two files are called \(name)")
      try Data(bytes).write(to: URL(filePath: directory + "/" + name))
      stored[bytes] = name
      return name
    }
    let logs = try LogVectors.all.map { try $0.json(store) }
    var vaults: [JSON] = []
    for vector in LoggedVaultVectors.all {
      let (file, json) = vector.made()
      _ = try store(vector.fileName, file)
      vaults.append(json)
    }
    let marks = try MarkVectors.all.map { try $0.json(store) }
    let manifest = JSON.object([
      ("format", .number(1)), ("device_key", .text(Sealing.text(ofKey: Credential.deviceKey))),
      ("vectors", .list(vaults)), ("logs", .list(logs)), ("marks", .list(marks)),
    ])
    try Data((manifest.written() + "\n").utf8).write(to: URL(filePath: directory + "/manifest.json"))
  }
}
