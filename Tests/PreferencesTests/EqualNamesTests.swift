import Preferences
import Testing

/// Many names of a file that are equal and have different bytes.
struct EqualNamesTests {
  private static let letters = 11
  /// The spellings of one name, whose letters are composed or decomposed.
  private static let spellings = (0..<1 << letters).map { number in
    (0..<letters).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
  }

  private func json(_ names: [String]) -> [UInt8] {
    Array("{\(names.map { "\"\($0)\": 1" }.joined(separator: ", "))}".utf8)
  }

  private func xml(_ names: [String]) -> [UInt8] {
    Array("<plist><dict>\(names.map { "<key>\($0)</key><true/>" }.joined())</dict></plist>".utf8)
  }

  @Test func `a JSON file keeps every spelling of a name, and is refused if one is repeated`() throws {
    let values = try JSONFormat().values(from: json(Self.spellings))
    let written = try JSONFormat().bytes(of: values, replacing: nil)
    for name in [Self.spellings[0], Self.spellings[1], Self.spellings[Self.spellings.count - 1]] {
      #expect(
        String(decoding: written, as: UTF8.self).utf8.split(separator: UInt8(ascii: "\"")).contains {
          $0.elementsEqual(name.utf8)
        })
    }
    let repeated = json(Self.spellings + [Self.spellings[5]])
    #expect(preferencesError { _ = try JSONFormat().values(from: repeated) }?.code == .malformed)
  }

  @Test(arguments: [PropertyListFormat.Encoding.xml, .binary])
  func `a property list keeps every spelling of a name, and is refused if one is repeated`(
    encoding: PropertyListFormat.Encoding
  ) throws {
    let format = PropertyListFormat(encoding)
    let values = try format.values(from: xml(Self.spellings))
    #expect(try format.values(from: try format.bytes(of: values, replacing: nil)) == values)
    let repeated = xml(Self.spellings + [Self.spellings[5]])
    #expect(preferencesError { _ = try format.values(from: repeated) }?.code == .malformed)
  }
}
