/// The text of a JSON file that `JSONParser` has read.
struct JSONSyntax: DocumentSyntax {
  static let separator = ","
  static let usualUnit = "  "

  let bytes: [UInt8]
  let root: Range<Int>

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
    root = start..<((bytes.lastIndex(of: UInt8(ascii: "}")) ?? start) + 1)
  }

  func container(_ value: Range<Int>) throws(PreferencesError) -> DocumentContainer? {
    let open = bytes[value.lowerBound]
    guard open == UInt8(ascii: "{") || open == UInt8(ascii: "[") else { return nil }
    var container = DocumentContainer(
      isDictionary: open == UInt8(ascii: "{"), content: value.lowerBound + 1..<value.upperBound - 1)
    var position = afterSpace(container.content.lowerBound)
    while position < container.content.upperBound {
      let start = position
      var name: String?
      if container.isDictionary {
        position = afterString(position)
        name = try text(start..<position)
        position = afterSpace(afterSpace(position) + 1)
      }
      let end = afterValue(position)
      container.items.append(DocumentItem(name: name, range: start..<end, value: position..<end))
      // Behind the comma, if there is one.
      position = afterSpace(afterSpace(end) + 1)
    }
    return container.items.isEmpty ? nil : container
  }

  func colon(_ member: DocumentItem) -> String? {
    guard member.name != nil else { return nil }
    return String(decoding: bytes[afterString(member.range.lowerBound)..<member.value.lowerBound], as: UTF8.self)
  }

  func text(_ value: PreferenceValue, named name: String?, _ style: DocumentStyle) -> [UInt8] {
    JSONWriter.text(value, named: name, style)
  }

  private func text(_ range: Range<Int>) throws(PreferencesError) -> String {
    guard bytes[range].contains(UInt8(ascii: "\\")) else {
      return String(decoding: bytes[range].dropFirst().dropLast(), as: UTF8.self)
    }
    var parser = try JSONParser(Array(bytes[range]))
    guard case .string(let text) = try parser.parseValue() else { return "" }
    return text
  }

  private func afterSpace(_ start: Int) -> Int {
    var position = start
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    return position
  }

  private func afterString(_ start: Int) -> Int {
    var position = start + 1
    while bytes[position] != UInt8(ascii: "\"") { position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1 }
    return position + 1
  }

  private func afterValue(_ start: Int) -> Int {
    var position = start
    var depth = 0
    repeat {
      switch bytes[position] {
      case UInt8(ascii: "\""): position = afterString(position)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      // A number, a word or, inside, what is between items.
      default: position += 1
      }
      // A number or a word ends before the first of these.
    } while depth > 0 || !isEnd(position, after: start)
    return position
  }

  private func isEnd(_ position: Int, after start: Int) -> Bool {
    switch bytes[start] {
    case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["): true
    default: position == bytes.count || ",]} \t\r\n".utf8.contains(bytes[position])
    }
  }
}
