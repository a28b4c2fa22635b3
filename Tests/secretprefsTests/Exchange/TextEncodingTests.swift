import Foundation
import Testing

/// Files that are not UTF-8.
struct TextEncodingTests {
  private static let text = "name,password\nä🦊,\"p€\"\n"

  private func keys(_ bytes: Data, _ option: String = "", name: String = "t.csv") throws -> (
    [String: String], Tool.Outcome
  ) {
    let scene = try ExchangeScene()
    try scene.write(Array(bytes), to: name)
    let outcome = try scene.shell("secretprefs import \(name) \(option)")
    return (try scene.texts(service: "default"), outcome)
  }

  @Test(arguments: [
    (String.Encoding.utf8, "", [UInt8]([0xEF, 0xBB, 0xBF])), (.utf16LittleEndian, "", [0xFF, 0xFE]),
    (.utf16BigEndian, "", [0xFE, 0xFF]), (.utf16LittleEndian, "--encoding UTF-16LE", []),
    (.utf16BigEndian, "--encoding utf-16be", []), (.utf16LittleEndian, "--encoding utf-16", [0xFF, 0xFE]),
    (.utf16BigEndian, "--encoding utf-16", [0xFE, 0xFF]),
  ])
  func `a file with a mark, or with a named encoding, is read`(
    _ encoding: String.Encoding, _ option: String, _ mark: [UInt8]
  ) throws {
    let (keys, outcome) = try keys(Data(mark) + (try #require(Self.text.data(using: encoding))), option)
    #expect(keys == ["ä🦊/password": "p€"], "\(outcome.errorText)")
  }

  @Test(arguments: [
    ("latin-1", String.Encoding.isoLatin1), ("ISO-8859-1", .isoLatin1), ("windows-1252", .windowsCP1252),
  ])
  func `a file of one byte a character is read as the option says`(_ name: String, _ encoding: String.Encoding) throws {
    let password = encoding == .windowsCP1252 ? "€„ä" : "£ä"
    let bytes = try #require("key,value\na,\(password)\n".data(using: encoding))
    #expect(try keys(bytes, "--encoding \(name)").0 == ["a": password])
    let (_, outcome) = try keys(bytes)
    #expect(outcome.text.contains("note: line 2, a: not UTF-8, so it becomes data"), "\(outcome.text)")
  }

  @Test(arguments: [
    ("utf-16le", [UInt8]([0x41, 0, 0x3D, 0, 0x31, 0])), ("utf-16be", [0, 0x41, 0, 0x3D]),
    ("UTF-32", [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0]), ("UTF-32", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x41]),
    ("UTF-32", [0x41, 0, 0, 0, 0x3D, 0, 0, 0]), ("UTF-32", [0, 0, 0, 0x41, 0, 0, 0, 0x3D]),
  ])
  func `an encoding that is not read is refused by its name`(_ name: String, _ bytes: [UInt8]) throws {
    let (keys, outcome) = try keys(Data(bytes), name: ".env")
    #expect(keys.isEmpty)
    #expect(outcome.exit == 65 && outcome.errorText.contains(name), "\(outcome.errorText)")
  }

  @Test(arguments: [("utf-16le", [UInt8]([0x41])), ("utf-16le", [0, 0xD8, 0x41, 0]), ("windows-1252", [0x41, 0x81])])
  func `bytes that the named encoding does not have are refused`(_ name: String, _ bytes: [UInt8]) throws {
    #expect(try keys(Data(bytes), "--encoding \(name)").1.exit == 65)
    #expect(try keys(Data(bytes), "--encoding ebcdic").1.exit == 64)
  }

  @Test func `XML is read in the encoding that it declares`() throws {
    func xml(_ name: String) -> String {
      "<?xml version='1.0' encoding='\(name)'?><KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>ä</Value>"
        + "</String><String><Key>Password</Key><Value>é</Value></String></Entry></Group></Root></KeePassFile>"
    }
    let latin = try #require(xml("ISO-8859-1").data(using: .isoLatin1))
    #expect(try keys(latin, name: "k.xml").0 == ["ä/password": "é"])
    #expect(try keys(Data(xml("utf-8").utf8), name: "k.xml").0 == ["ä/password": "é"])
    let (_, other) = try keys(Data(xml("utf-16").utf8), name: "k.xml")
    #expect(other.exit == 65 && other.errorText.contains("says that it is UTF-16, and is not"), "\(other.errorText)")
    #expect(try keys(Data(xml("utf-16").utf8), "--encoding utf-8", name: "k.xml").0 == ["ä/password": "é"])
    let (_, outcome) = try keys(Data(xml("KOI8-R").utf8), name: "k.xml")
    #expect(outcome.exit == 65 && outcome.errorText.contains("in an encoding that is not read"), "\(outcome.errorText)")
  }
}
