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
          try records.skip(key, "a list with a value that another program replaces", line: leaf.line)
        }
      case .null: try records.skip(key, "null", line: leaf.line)
      case .emptyObject: try records.skip(key, "an empty object", line: leaf.line)
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
