import FoundationEssentials

/// The header fields by which a server names a version of its content (RFC 9110, sections 8.8.2 and 8.8.3).
enum HTTPVersion {
  /// Whether `text` is an entity tag: `"…"` or `W/"…"`, of at most 1024 bytes, of which none is a space or a quotation
  /// mark.
  static func isEntityTag(_ text: String) -> Bool {
    var rest = Substring(text).utf8
    guard rest.count <= 1_024 else { return false }
    if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
    guard rest.count >= 2, rest.popFirst() == quote, rest.popLast() == quote else { return false }
    return rest.allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
  }

  private static let quote = UInt8(ascii: "\"")

  /// Whether `text` is a date such as `Sun, 06 Nov 1994 08:49:37 GMT` that is not in the future.
  static func isPastDate(_ text: String, now: Date = Date()) -> Bool {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard text.utf8.count == 29, parts.count == 6, days.contains(String(parts[0])), parts[5] == "GMT",
      let month = months.firstIndex(of: String(parts[2])),
      // The parser of timestamps knows the lengths of the months.
      let date = PreferenceTimestamp.date("\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
    else { return false }
    return date <= now
  }

  private static let days = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
