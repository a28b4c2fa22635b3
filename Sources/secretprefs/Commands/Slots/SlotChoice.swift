internal import VaultCore

/// Selects a slot by its id or a prefix of it.
struct SlotChoice {
  private let digits: String

  init(_ text: String) throws(ToolError) {
    guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
      throw .usage(
        "a slot id must consist of hex digits", hint: "\"secretprefs slots list\" lists the ids")
    }
    digits = text.lowercased()
  }

  func find(in slots: [SlotInfo]) throws(ToolError) -> SlotInfo {
    let found = slots.filter { $0.id.description.hasPrefix(digits) }
    guard let slot = found.first else { throw .noSuchSlot }
    guard found.count == 1 else {
      let ids = found.map(\.id.description).joined(separator: ", ")
      throw .usage("several slot ids start with these digits: \(ids)", hint: "give more digits")
    }
    return slot
  }
}
