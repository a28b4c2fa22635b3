internal import Preferences
internal import VaultCore

extension RecordsParser {
  /// The members of one record. A member that is read is taken out.
  struct Fields {
    let bytes: UnsafeMutableRawBufferPointer
    let line: Int
    /// What faults call the record.
    var name = ""
    var ranges: [String: Range<Int>] = [:]

    init(bytes: UnsafeMutableRawBufferPointer, line: Int) {
      self.bytes = bytes
      self.line = line
    }

    /// The members of an object, each once.
    init(_ members: [GuardedJSONParser.Item], of bytes: UnsafeMutableRawBufferPointer, line: Int) throws(PlainFault) {
      self.init(bytes: bytes, line: line)
      for member in members {
        guard ranges.updateValue(member.value, forKey: member.name ?? "") == nil else {
          throw PlainFault(line: line, reason: "a repeated member")
        }
      }
    }

    func fault(_ reason: String) -> PlainFault { PlainFault(line: line, name: name, reason: reason) }

    /// The key, the service and the metadata. Faults name the key from then on.
    mutating func record() throws(PlainFault) -> (key: String, record: ImportedRecord) {
      let key = try required("key")
      name = key
      var record = ImportedRecord(service: try required("service"))
      record.accessibility = try accessibility()
      record.edit.label = try string("label").map(RecordEdit.Field.set) ?? .remove
      record.edit.comment = try string("comment").map(RecordEdit.Field.set) ?? .remove
      record.edit.expiry = try time("expiry").map(RecordEdit.Field.set) ?? .remove
      record.edit.attributes = try attributes().map(RecordEdit.Field.set) ?? .remove
      return (key, record)
    }

    mutating func required(_ member: String) throws(PlainFault) -> String {
      guard let text = try string(member) else { throw fault("a record without \"\(member)\"") }
      return text
    }

    mutating func string(_ member: String) throws(PlainFault) -> String? {
      guard let range = ranges.removeValue(forKey: member) else { return nil }
      guard let text = GuardedJSONParser.text(range, in: bytes) else { throw fault("\"\(member)\" is no text") }
      return String(decoding: bytes[text], as: UTF8.self)
    }

    mutating func number(_ member: String) throws(PlainFault) -> UInt16? {
      guard let range = ranges.removeValue(forKey: member) else { return nil }
      guard let number = UInt16(String(decoding: bytes[range], as: UTF8.self)) else {
        throw fault("\"\(member)\" is no number that is possible")
      }
      return number
    }

    /// In milliseconds since 1970.
    mutating func time(_ member: String) throws(PlainFault) -> Int64? {
      guard let text = try string(member) else { return nil }
      if let time = Timestamp(text) { return time.milliseconds }
      guard text.hasSuffix(" ms"), let number = Int64(text.dropLast(3)) else { throw fault("\"\(member)\" is no time") }
      return number
    }

    mutating func kind() throws(PlainFault) -> ValueKind {
      let label = try required("kind")
      guard let kind = ValueKind(label: label) else { throw fault("a kind that is not known") }
      return kind
    }

    mutating func accessibility() throws(PlainFault) -> Vault.Accessibility {
      guard let name = try string("accessibility") else { return .whenUnlocked }
      do throws(VaultError) { return try Vault.Accessibility(named: name) } catch {
        throw fault("an accessibility that is not known")
      }
    }

    mutating func attributes() throws(PlainFault) -> [RecordEdit.Attribute]? {
      guard let range = ranges.removeValue(forKey: "attributes") else { return nil }
      let attributes = try elements(range).map { (fields) throws(PlainFault) in
        var fields = fields
        let name = try fields.required("name")
        var data = try fields.string("text").map { Array($0.utf8) }
        if data == nil { data = try fields.base64().map { Array(bytes[$0]) } }
        guard let data, fields.ranges.isEmpty else { throw fault("an attribute without \"text\" or \"base64\"") }
        do throws(VaultError) { return try RecordEdit.Attribute(name, data) } catch {
          throw fault("an attribute with a bad name")
        }
      }
      return attributes.isEmpty ? nil : attributes
    }

    mutating func earlier() throws(PlainFault) -> [ImportedRecord.Content] {
      guard let range = ranges.removeValue(forKey: "previous") else { return [] }
      return try elements(range).map { (fields) throws(PlainFault) in
        var fields = fields
        for name in RecordsParser.ignored { fields.ranges[name] = nil }
        let kind = try fields.kind()
        let content = try fields.value(kind)
        guard fields.ranges.isEmpty else { throw fault("an earlier value with a member that is not known") }
        return content
      }
    }

    /// The objects in an array.
    func elements(_ range: Range<Int>) throws(PlainFault) -> [Fields] {
      guard bytes[range.lowerBound] == UInt8(ascii: "[") else { throw fault("no list where one belongs") }
      return try GuardedJSONParser.items(of: bytes, from: range.lowerBound, line: line).items.map {
        (item) throws(PlainFault) in
        guard bytes[item.value.lowerBound] == UInt8(ascii: "{") else { throw fault("no object where one belongs") }
        var fields = Fields(bytes: bytes, line: line)
        fields.name = name
        for member in try GuardedJSONParser.items(of: bytes, from: item.value.lowerBound, line: line).items {
          fields.ranges[member.name ?? ""] = member.value
        }
        return fields
      }
    }

    /// The bytes of the member `base64`, with or without padding.
    private mutating func base64() throws(PlainFault) -> Range<Int>? {
      guard let range = ranges.removeValue(forKey: "base64") else { return nil }
      guard let text = GuardedJSONParser.text(range, in: bytes), let data = DecodedText.base64(text, in: bytes) else {
        throw fault("\"base64\" is no Base64")
      }
      return data
    }

    /// - Parameter isAnyText: Whether the text of a URL or of JSON may be none, which programs can store: an archive
    ///   brings it back.
    mutating func value(_ kind: ValueKind, isAnyText: Bool = false) throws(PlainFault) -> ImportedRecord.Content {
      let (value, base64) = (ranges.removeValue(forKey: "value"), try base64())
      if let base64, value == nil {
        guard isAnyText || !kind.isText || isValue(kind, base64) else { throw fault("a value that is not of its kind") }
        return try content(base64, .body(kind), kind)
      }
      guard let value, base64 == nil else { throw fault("a record without a value, or with two") }
      // JSON is stored as it is written.
      if kind == .json { return try content(value, .body(kind), kind) }
      let text = GuardedJSONParser.text(value, in: bytes)
      guard isSpelled(kind, text ?? value, isQuoted: text != nil) else {
        throw fault("a value that is not of its kind")
      }
      return try content(text ?? value, kind.isText ? .body(kind) : .kind(kind), kind)
    }

    /// Whether a value is spelled as the export spells one of its kind: numbers and bools as JSON has them, infinite
    /// numbers and all others as text.
    private func isSpelled(_ kind: ValueKind, _ range: Range<Int>, isQuoted: Bool) -> Bool {
      let words: [String]? =
        switch kind {
        case .bool: ["true", "false"]
        case .double where isQuoted: ["inf", "-inf"]
        default: nil
        }
      guard isQuoted ? kind == .double || !kind.isSpelledWithoutQuotes : kind.isSpelledWithoutQuotes,
        words?.contains(where: { bytes[range].elementsEqual($0.utf8) }) ?? true
      else { return false }
      return isValue(kind, range)
    }

    /// Whether the text is one of a value of this kind.
    private func isValue(_ kind: ValueKind, _ range: Range<Int>) -> Bool {
      let text = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range])
      do throws(VaultError) { return try TypedText.kind(kind, of: text.bytes) == kind } catch { return false }
    }

    private func content(
      _ range: Range<Int>, _ spelling: PlainSpelling, _ kind: ValueKind
    ) throws(PlainFault) -> ImportedRecord.Content {
      let text = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range])
      var isValue = false
      do throws(VaultError) {
        try spelling.withBody(of: text.bytes) { (body) throws(VaultError) in isValue = kind.fits(body) }
      } catch {}
      guard isValue else { throw fault("a value that is not of its kind") }
      return ImportedRecord.Content(bytes: range, spelling: spelling)
    }
  }
}

extension ValueKind {
  /// The kind with a name of the tool's output.
  init?(label: String) {
    let named = (0...UInt8.max).lazy.map(ValueKind.init(rawValue:)).first { $0.rawValue > 0 && $0.label == label }
    guard let named else { return nil }
    self = named
  }

  fileprivate var isSpelledWithoutQuotes: Bool {
    self == .bool || self == .integer || self == .unsignedInteger || self == .double
  }
}
