internal import Preferences
internal import VaultCore

/// Recognizes the format of a JSON document, and makes records of one that is of no program.
enum JSONDocuments {
  /// Recognizes the format by the names in the document.
  static func format(of leaves: [JSONLeaf]) -> PlainFormat {
    let isBitwarden =
      leaves.contains { $0.path == [.name("encrypted")] && $0.kind == .bool }
      && leaves.contains { ["items", "data", "encKeyValidation_DO_NOT_EDIT"].contains($0.path[0].text) }
    if isBitwarden { return .bitwarden }
    return DockerParser.recognizes(leaves) ? .docker : .json
  }

  /// What the JSON of other password managers and authenticators has; `*` stands for each element of a list or object.
  private static let foreign: [(program: String, paths: Set<String>)] = [
    ("Aegis", ["version", "header", "db"]), ("Enpass", ["folders", "items.*.title"]),
    ("Bitwarden without its member \"encrypted\"", ["items.*.login"]), ("1Password", ["accounts.*.vaults"]),
    ("Proton Pass", ["version", "vaults.*.items"]),
  ]

  /// The program of whose export a document has the names; `nil` if none is known.
  static func foreignProgram(of leaves: [JSONLeaf]) -> String? {
    guard format(of: leaves) == .json else { return nil }
    let paths = foreign.reduce(Set()) { $0.union($1.paths) }
    var found: Set<String> = []
    for path in leaves.map(\.path) {
      for form in [path[0].text, path.count > 2 ? "\(path[0].text).*.\(path[2].text)" : ""] where paths.contains(form) {
        found.insert(form)
      }
    }
    return foreign.first { found.isSuperset(of: $0.paths) }?.program
  }

  /// Objects. Nested names are joined with dots. Values keep their kinds; an array stays JSON.
  static func plain(
    _ leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer
  ) throws(PlainFault) -> PlainRecords {
    var records = PlainRecords()
    let isSealed = ForeignReference.isSealed(leaves, in: bytes)
    var leavesMetadata = false
    let leaves = GuardedJSONParser.decoded(leaves, in: bytes, keepingArrays: true)
    for (index, leaf) in leaves.enumerated() where !leaf.isInArray {
      let path = leaf.path
      let key = path.map(\.text).joined(separator: ".")
      if isSealed, path[0] == ForeignReference.sopsMember {
        if !leavesMetadata { try records.skip(path[0].text, "metadata of sops", line: leaf.line) }
        leavesMetadata = true
        continue
      }
      switch leaf.kind {
      case .text: try records.add(key, leaf.bytes, line: leaf.line)
      case .bool: try records.add(key, leaf.bytes, line: leaf.line, spelling: .kind(.bool))
      case .number:
        let kind = TypedText.kind(ofNumber: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[leaf.bytes]))
        try records.add(key, leaf.bytes, line: leaf.line, spelling: .kind(kind))
      case .array:
        if isUsed(leaves[(index + 1)...].prefix(while: \.isInArray), in: bytes) {
          try records.add(key, leaf.bytes, line: leaf.line, spelling: .kind(.json))
        } else {
          try records.leave(key, .left("a list with a value that another program replaces"), line: leaf.line)
        }
      case .null: try records.leave(key, .left("null"), line: leaf.line)
      case .emptyObject: try records.leave(key, .left("an empty object"), line: leaf.line)
      }
    }
    return records
  }

  /// Whether the elements of an array have no text that stands for a different one.
  private static func isUsed(_ elements: ArraySlice<JSONLeaf>, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    !elements.contains { element in
      element.kind == .text && ForeignReference.name(of: UnsafeRawBufferPointer(bytes)[element.bytes]) != nil
    }
  }
}
