/// The relevant fields of the header of an HTTP response, parsed line by line.
struct ResponseHead {
  /// The maximum length of the header, in bytes.
  static let maximumByteCount = 256 << 10

  /// The status; 0 before the status line was received.
  private(set) var status = 0
  private(set) var location: String?
  private(set) var entityTag: String?
  private(set) var lastModified: String?
  /// Whether the body is compressed or encoded in another way.
  private(set) var isEncoded = false
  /// Whether the whole header was received.
  private(set) var isComplete = false
  private var byteCount = 0

  /// Whether this is the last header of the response. An informational status is followed by another header, except
  /// 101, which ends HTTP.
  var isFinal: Bool { status >= 200 || status == 101 }

  /// Parses a line with its line ending.
  ///
  /// - Returns: `false` if the header is too long.
  mutating func take(_ line: [UInt8]) -> Bool {
    byteCount += line.count
    guard byteCount <= Self.maximumByteCount else { return false }
    // Later lines are the trailer of a chunked body.
    if isComplete && isFinal { return true }
    let line = line.prefix { $0 != 0x0D && $0 != 0x0A }
    if line.isEmpty {
      isComplete = status > 0
    } else if line.starts(with: "HTTP/".utf8) {
      let number = line.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
      (self, byteCount) = (ResponseHead(), byteCount)
      status = Int(String(decoding: number, as: UTF8.self)) ?? 0
    } else if let colon = line.firstIndex(of: 0x3A) {
      takeField(String(decoding: line[..<colon], as: UTF8.self), line[line.index(after: colon)...])
    }
    return true
  }

  private mutating func takeField(_ name: String, _ bytes: ArraySlice<UInt8>) {
    var text = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    let value = String(decoding: text, as: UTF8.self)
    // The value is sent back unchanged, so it must be a single line.
    let isPlain = (1...1_024).contains(text.count) && text.allSatisfy { (0x20...0x7E).contains($0) }
    switch name.lowercased() {
    case "location" where !text.contains(0): location = value
    case "etag" where isPlain: entityTag = value
    case "last-modified" where isPlain: lastModified = value
    case "content-encoding": isEncoded = isEncoded || !["", "identity"].contains(value.lowercased())
    default: break
    }
  }
}
