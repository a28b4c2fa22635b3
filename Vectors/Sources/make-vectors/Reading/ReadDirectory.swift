import FoundationEssentials

/// A directory of vaults that another implementation wrote, and who opens them.
///
/// `opens` has a line for each try: the file's name, `key`, `passphrase` or `identity`, and its text, with tabs between;
/// behind an identity the text of a pin.
enum ReadDirectory {
  /// Writes what this reader finds as a manifest beside the vaults.
  static func read(_ directory: String) throws {
    let lines = try text(directory + "/opens").split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    var vectors: [JSON] = []
    for name in Set(lines.map { $0[0] }).sorted() {
      let file = Bytes(try Data(contentsOf: URL(filePath: directory + "/" + name)))
      let vault = try ReadVault(file)
      let attempts = try lines.filter { $0[0] == name }.map { line in
        let credential: Credential =
          switch line[1] {
          case "key": .key(try key(line[2], prefix: "spv-key-1:"))
          case "identity": .identity(try key(line[2], prefix: "spv-identity-1:"), pin: line[3])
          default: .passphrase(line[2])
          }
        let found = try vault.findings(credential, deviceKey: Credential.deviceKey)
        return JSON.object([("credential", credential.json), ("expect", found.json())])
      }
      vectors.append(
        .object([
          ("file", .text(name)), ("blake2b256", .text(Sealing.hash(32, file).hexadecimal)),
          ("no_key", Findings.withoutKey(entryCount: vault.entries.count, hasTornTail: vault.hasTornTail)),
          ("open", .list(attempts)),
        ]))
    }
    try VectorSet.write(vectors, to: directory)
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  static func key(_ text: String, prefix: String = "spv-key-1:") throws -> Bytes {
    let digits = text.dropFirst(prefix.count)
    try require(text.hasPrefix(prefix) && digits.count == 64, "key text")
    return try (0..<32).map { index in
      let start = digits.index(digits.startIndex, offsetBy: 2 * index)
      return try require(UInt8(digits[start...].prefix(2), radix: 16), "key text")
    }
  }
}
