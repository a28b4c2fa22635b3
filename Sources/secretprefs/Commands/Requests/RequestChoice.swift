internal import VaultCore
internal import VaultSealing

/// Selects requests by a public key or the first digits of one.
struct RequestChoice {
  let digits: String

  /// As many as ``ListSlots`` shows.
  private static let fewest = 8

  init(_ text: String) throws(ToolError) {
    let prefix = KeyText.Form.publicKey.prefix
    digits = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    guard (Self.fewest...64).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else {
      throw .usage(
        "a request is selected by its public key, or at least \(Self.fewest) of its first digits",
        hint: "\"secretprefs requests list\" lists the public keys")
    }
  }

  /// Whether the public key is given with all its digits.
  var isWhole: Bool { digits.utf8.count == 64 }

  /// All requests with the public key, at least one.
  func find(in contents: RequestContents) throws(ToolError) -> [Request] {
    let found = contents.requests.filter { $0.publicKey.digits.hasPrefix(digits) }
    guard !found.isEmpty else {
      throw ToolError(
        VaultError(.notFound, "no request\(contents.unread.isEmpty ? "" : " that can be read") has this public key"),
        hint: "\"secretprefs requests list\" lists the requests; \"secretprefs slots add\" needs none")
    }
    let others = Set(found.map(\.publicKey)).sorted { $0.digits < $1.digits }
    guard others.count == 1 else {
      let keys = others.map(\.description).joined(separator: ", ")
      throw .usage("several public keys start with these digits: \(keys)", hint: "give all digits")
    }
    return found
  }
}
