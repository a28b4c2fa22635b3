internal import VaultCore

/// The slot that is meant by the first digits of its id.
struct SlotChoice {
  private let digits: String

  init(_ text: String) throws(ToolError) {
    guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
      throw .usage(
        "a slot is named by its id, or by the first hex digits of it", hint: "\"secretprefs slots list\" shows the ids")
    }
    digits = text.lowercased()
  }

  func find(in slots: [SlotInfo]) throws(ToolError) -> SlotInfo {
    let found = slots.filter { $0.id.description.hasPrefix(digits) }
    guard let slot = found.first else { throw .noSuchSlot }
    guard found.count == 1 else {
      let ids = found.map(\.id.description).joined(separator: ", ")
      throw .usage("several slots have ids that begin so: \(ids)", hint: "give more digits")
    }
    return slot
  }
}
