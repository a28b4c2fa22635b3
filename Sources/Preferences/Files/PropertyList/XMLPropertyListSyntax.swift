/// The text of an XML property list that `XMLPropertyListParser` has read.
struct XMLPropertyListSyntax: DocumentSyntax {
  static let separator = ""
  static let usualUnit = "\t"

  let root: Range<Int>
  private let scanner: XMLScanner
  private let writer: XMLPropertyListWriter

  var bytes: [UInt8] { scanner.bytes }

  init(_ bytes: [UInt8], writer: XMLPropertyListWriter) throws(PreferencesError) {
    var scanner = try XMLScanner(bytes)
    self.writer = writer
    try scanner.skipProlog()
    _ = try scanner.readTag()
    try scanner.skipMisc()
    let start = scanner.position
    try Self.skipValue(&scanner)
    root = start..<scanner.position
    self.scanner = scanner
  }

  func container(_ value: Range<Int>) throws(PreferencesError) -> DocumentContainer? {
    var scanner = scanner
    scanner.position = value.lowerBound
    let tag = try scanner.readTag()
    guard tag.form == .opening, tag.name == "dict" || tag.name == "array" else { return nil }
    var container = DocumentContainer(isDictionary: tag.name == "dict", content: scanner.position..<scanner.position)
    while true {
      try scanner.skipMisc()
      let start = scanner.position
      var name: String?
      let next = try scanner.readTag()
      if next.form == .closing {
        container.content = container.content.lowerBound..<start
        let isEmpty = container.items.isEmpty && !bytes[container.content].contains(UInt8(ascii: "<"))
        return isEmpty ? nil : container
      }
      if container.isDictionary {
        name = next.form == .empty ? "" : try scanner.readText()
        if next.form == .opening { _ = try scanner.readTag() }
        try scanner.skipMisc()
      } else {
        scanner.position = start
      }
      let value = scanner.position
      try Self.skipValue(&scanner)
      let end = scanner.position
      container.items.append(DocumentItem(name: name, range: start..<end, value: value..<end))
    }
  }

  func colon(_ member: DocumentItem) -> String? { nil }

  func text(
    _ value: PreferenceValue, named name: String?, _ style: DocumentStyle
  ) throws(PreferencesError) -> [UInt8] {
    try writer.text(value, named: name, style)
  }

  /// Skips an element with all that is in it.
  private static func skipValue(_ scanner: inout XMLScanner) throws(PreferencesError) {
    var depth = 0
    repeat {
      let tag = try scanner.readTag()
      switch (tag.form, tag.name) {
      case (.empty, _): break
      case (.closing, _): depth -= 1
      case (.opening, "dict"), (.opening, "array"): depth += 1
      case (.opening, _):
        _ = try scanner.readText()
        _ = try scanner.readTag()
      }
    } while depth > 0
  }
}
