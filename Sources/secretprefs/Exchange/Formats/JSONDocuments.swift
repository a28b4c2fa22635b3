internal import Preferences

/// Recognizes the format of a JSON document, and makes records of it.
enum JSONDocuments {
  /// Recognizes the format by the names in the document.
  static func format(of leaves: [JSONLeaf], named name: String) -> PlainFormat {
    let isBitwarden =
      leaves.contains { $0.path == [.name("encrypted")] && $0.kind == .bool }
      && leaves.contains { ["items", "data", "encKeyValidation_DO_NOT_EDIT"].contains($0.path[0].text) }
    if isBitwarden { return .bitwarden }
    return name == "config.json" && leaves.contains { $0.path[0] == .name("auths") } ? .docker : .json
  }

  /// Objects of strings, numbers and bools. Nested names are joined with dots; numbers and bools become their spelling.
  static func plain(_ leaves: [JSONLeaf]) throws(PreferencesError) -> PlainRecords {
    var records = PlainRecords()
    for leaf in leaves {
      let path = leaf.path
      let key = path.map(\.text).joined(separator: ".")
      let isInArray = path.contains { if case .index = $0 { true } else { false } }
      if isInArray {
        try records.skip(key, "a value in an array", line: leaf.line)
      } else if leaf.kind == .null {
        try records.skip(key, "null", line: leaf.line)
      } else {
        try records.add(key, leaf.bytes, line: leaf.line)
      }
    }
    return records
  }

  /// Docker's `config.json`: `auths`, by registry. The keys are those of the credential helper.
  static func docker(
    _ leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer
  ) throws(PreferencesError) -> PlainRecords {
    var records = PlainRecords()
    let tokens = Set(
      leaves.filter { $0.place.component == .name("identitytoken") && !$0.bytes.isEmpty }.map { $0.path.dropLast() })
    for leaf in leaves {
      let path = leaf.path.map(\.text)
      guard path.count == 3, path[0] == "auths", leaf.kind == .text else {
        try records.skip(path.joined(separator: "."), "not a login", line: leaf.line)
        continue
      }
      if leaf.bytes.isEmpty { continue }
      switch path[2] {
      case "identitytoken":
        try records.add(path[1], leaf.bytes, line: leaf.line, login: .docker(user: DockerCredential.tokenUser))
      case "auth" where tokens.contains(leaf.path.dropLast()): continue  // the user of the token, without a password
      case "auth":
        guard let login = DecodedText.base64(leaf.bytes, in: bytes),
          let colon = bytes[login].firstIndex(of: UInt8(ascii: ":")),
          let user = String(validating: bytes[login.lowerBound..<colon], as: UTF8.self)
        else { throw PreferencesError(.malformed, "line \(leaf.line): a login that is not base64 of user:password") }
        try records.add(path[1], colon + 1..<login.upperBound, line: leaf.line, login: .docker(user: user))
      default: try records.add("\(path[1])/\(path[2])", leaf.bytes, line: leaf.line)
      }
    }
    return records
  }
}
