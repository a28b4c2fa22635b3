/// The lines of a dotenv file while some of its names change. All other bytes stay as they are.
struct DotenvLines {
  private let old: [UInt8]
  private let entries: [(entry: DotenvEntry, text: String)]
  /// The index of the last entry of each name, which has its value.
  private let present: [String: Int]
  /// The new text of the names that change; `nil` removes a name.
  private var changes: [String: String?] = [:]

  init(_ bytes: [UInt8], entries: [(entry: DotenvEntry, text: String)]) {
    old = bytes
    self.entries = entries
    present = Dictionary(entries.enumerated().map { ($1.entry.name, $0) }) { _, last in last }
  }

  var names: Set<String> { Set(present.keys) }

  mutating func remove(_ name: String) { changes[name] = .some(nil) }

  mutating func set(_ name: String, to text: String) {
    if let index = present[name], entries[index].text.utf8.elementsEqual(text.utf8) { return }
    changes[name] = text
  }

  /// The file with the changes.
  var bytes: [UInt8] {
    var new: [UInt8] = []
    var copied = 0
    for (index, entry) in entries.map(\.entry).enumerated() {
      guard let change = changes[entry.name] else { continue }
      new += old[copied..<entry.lines.lowerBound]
      // Earlier lines of a changed name have no effect, and may contain an old secret.
      if let text = change, index == present[entry.name] {
        new += old[entry.lines.lowerBound..<entry.value.lowerBound]
        new += Self.quoted(text)
        new += old[entry.value.upperBound..<entry.lines.upperBound]
      }
      copied = entry.lines.upperBound
    }
    new += old[copied...]
    for (name, change) in changes.sorted(by: { $0.key < $1.key }) where present[name] == nil {
      guard let text = change else { continue }
      if let last = new.last, last != UInt8(ascii: "\n") { new.append(UInt8(ascii: "\n")) }
      new += Array("\(name)=".utf8) + Self.quoted(text) + [UInt8(ascii: "\n")]
    }
    return new
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var (text, bytes) = (text, [UInt8]())
    text.withUTF8 { text in DotenvText.write(UnsafeRawBufferPointer(text)) { bytes.append($0) } }
    return bytes
  }
}
