import Foundation
import Preferences
import Testing

/// Lists and dictionaries as JSON text (`Docs/Format.md` annex E): the texts of the second implementation.
struct ValueTextVectorTests {
  struct Manifest: Decodable {
    let values: [Text]

    struct Text: Decodable, Sendable, CustomTestStringConvertible {
      let name, text: String
      let value: Typed?
      let error: String?
      let written: Bool?
      var testDescription: String { name }
      var bytes: [UInt8] { ValueTextVectorTests.bytes(text) }
    }
  }

  /// A value with its type: `["integer", "5"]`.
  struct Typed: Decodable, Sendable {
    let value: PreferenceValue

    init(from decoder: any Decoder) throws {
      var pair = try decoder.unkeyedContainer()
      let type = try pair.decode(String.self)
      switch type {
      case "array": value = .array(try pair.decode([Typed].self).map(\.value))
      case "dictionary": value = .dictionary(try pair.decode([String: Typed].self).mapValues(\.value))
      case "bool": value = .bool(try pair.decode(Bool.self))
      default: value = try #require(Self.scalar(type, try pair.decode(String.self)))
      }
    }

    private static func scalar(_ type: String, _ text: String) -> PreferenceValue? {
      let double = UInt64(text, radix: 16).map(Double.init(bitPattern:))
      return switch type {
      case "string": .string(text)
      case "integer": Int64(text).map(PreferenceValue.integer)
      case "unsigned": UInt64(text).map(PreferenceValue.unsignedInteger)
      case "double": double.map(PreferenceValue.double)
      case "date": double.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      case "data": .data(Data(ValueTextVectorTests.bytes(text)))
      case "url": URL(string: text).map(PreferenceValue.url)
      default: nil
      }
    }
  }

  static func texts(_ isValid: Bool) throws -> [Manifest.Text] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "VaultCoreTests/Vectors/faults/values.json")
    let texts = try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: path)).values
    try #require(texts.count > 60)
    return texts.filter { ($0.error == nil) == isValid }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    var digits = hex.utf8.makeIterator()
    var bytes: [UInt8] = []
    while let high = digits.next(), let low = digits.next() {
      bytes.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)!)
    }
    return bytes
  }

  @Test(arguments: try texts(true))
  func `row 67: a text of the second implementation is the value that it says`(_ text: Manifest.Text) throws {
    let value = try JSONFormat.value(of: text.bytes)
    let expected = try #require(text.value).value

    #expect(value == expected || "\(value)" == "\(expected)")
    if text.written == true {
      #expect(
        String(decoding: try JSONFormat.text(of: expected), as: UTF8.self)
          == String(decoding: text.bytes, as: UTF8.self))
    }
  }

  @Test(arguments: try texts(false))
  func `row 67: a text of the second implementation is refused as it says`(_ text: Manifest.Text) {
    #expect(throws: PreferencesError.self) { try JSONFormat.value(of: text.bytes) }
  }
}
