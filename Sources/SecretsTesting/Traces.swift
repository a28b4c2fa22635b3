internal import DurableFiles
internal import FoundationEssentials

/// Returns the places where `secret` can be read in the text that a program prints for `value`; empty if there is none.
///
/// ```swift
/// #expect(traces(of: "ghp_example", in: error) == [])
/// ```
///
/// Searches the description, the debug description, the dump with all mirrors, and the JSON of an `Encodable` value;
/// for `Data` and byte sequences, also the bytes. The secret is found as it is, escaped as in Swift or JSON, in Base64
/// and Base64url, in hexadecimal, as a list of numbers and in UTF-16.
///
/// - Returns: one text for each place, such as `"dump, in Base64"`. It does not contain the secret. An empty secret is
///   in every place.
public func traces(of secret: String, in value: Any) -> [String] {
  var dumped = ""
  dump(value, to: &dumped)
  var places = [
    ("description", Array("\(value)".utf8)), ("debug description", Array(String(reflecting: value).utf8)),
    ("dump", Array(dumped.utf8)),
  ]
  if let value = value as? any Encodable, let json = json(value) { places.append(("JSON", json)) }
  if let bytes = value as? any Sequence<UInt8> { places.append(("bytes", Array(bytes))) }
  let forms = SecretForms(secret)
  return places.flatMap { place, bytes in forms.found(in: bytes).map { "\(place), \($0)" } }
}

/// Returns where `secret` can be read in the file at `path`, or in a file in the folder at `path`, in the same forms as
/// ``traces(of:in:)``. If `path` is a symbolic link, its target is searched; links in a folder are not followed.
///
/// - Returns: one text for each file and form, such as `"settings.json, in Base64"`; empty if there is no such file.
/// - Throws: an error if a file cannot be read.
public func traces(of secret: String, inFilesAt path: String) throws -> [String] {
  let forms = SecretForms(secret)
  let manager = FileManager.default
  var isFolder = false
  guard let target = PathName.resolved(path), manager.fileExists(atPath: target, isDirectory: &isFolder) else {
    return []
  }
  let files = isFolder ? try manager.subpathsOfDirectory(atPath: target).map { "/" + $0 } : [""]
  return try files.flatMap { file in
    // Skips folders, and files that would block, such as a pipe.
    guard try manager.attributesOfItem(atPath: target + file)[.type] as? FileAttributeType == .typeRegular else {
      return [String]()
    }
    return forms.found(in: Array(try Data(contentsOf: URL(filePath: target + file)))).map { "\(path + file), \($0)" }
  }
}

private func json(_ value: some Encodable) -> [UInt8]? {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .withoutEscapingSlashes
  // A value that cannot be encoded has no JSON.
  do { return Array(try encoder.encode(value)) } catch { return nil }
}

/// The bytes by which a secret can be recognised.
private struct SecretForms {
  /// Without a form, the secret is empty.
  private let forms: [(name: String, bytes: [UInt8])]

  init(_ secret: String) {
    // Such a secret is in every text: a test of a token that is unexpectedly empty fails, and does not end the others.
    guard !secret.isEmpty else {
      forms = []
      return
    }
    let bytes = Array(secret.utf8)
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let littleEndian = secret.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let bigEndian = secret.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    let escaped = Array(secret.debugDescription.utf8.dropFirst().dropLast())
    var forms = [("as it is", bytes)]
    for form in [escaped] + Self.json(secret) where !forms.contains(where: { $0.1 == form }) {
      forms.append(("escaped", form))
    }
    for offset in 0..<3 {
      let form = Self.base64(bytes, after: offset)
      forms.append(("in Base64", form))
      let url = form.map { byte -> UInt8 in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      }
      if url != form { forms.append(("in Base64url", url)) }
    }
    for text in [hex, hex.uppercased()] { forms.append(("in hexadecimal", Array(text.utf8))) }
    for separator in [", ", ","] {
      forms.append(("as numbers", Array(bytes.map { String($0) }.joined(separator: separator).utf8)))
    }
    for units in [littleEndian, bigEndian] { forms.append(("in UTF-16", units)) }
    self.forms = forms
  }

  /// The content of a JSON string. Encoders differ in slashes, in characters beyond ASCII and in the case of digits.
  private static func json(_ secret: String) -> [[UInt8]] {
    let short: [Unicode.Scalar: String] = [
      "\"": "\\\"", "\\": "\\\\", "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]
    var forms: [[UInt8]] = []
    for slash in ["/", "\\/"] {
      for (isASCII, isUppercase) in [(false, false), (false, true), (true, false), (true, true)] {
        var text = ""
        for scalar in secret.unicodeScalars {
          if let escape = short[scalar] {
            text += escape
          } else if scalar == "/" {
            text += slash
          } else if scalar.value < 0x20 || isASCII && !scalar.isASCII {
            for unit in String(scalar).utf16 {
              let digits = String(unit, radix: 16, uppercase: isUppercase)
              text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
          } else {
            text.unicodeScalars.append(scalar)
          }
        }
        forms.append(Array(text.utf8))
      }
    }
    return forms
  }

  /// The characters that are the same whatever precedes and follows the secret in the encoded data. `offset` bytes
  /// precede it in its group of three.
  private static func base64(_ bytes: [UInt8], after offset: Int) -> [UInt8] {
    let encoded = Array(Data([UInt8](repeating: 0, count: offset) + bytes).base64EncodedString().utf8)
    return Array(encoded[(offset * 8 + 5) / 6..<(offset + bytes.count) * 8 / 6])
  }

  func found(in bytes: [UInt8]) -> [String] {
    if forms.isEmpty { return ["an empty text"] }
    var names: [String] = []
    bytes.withUnsafeBytes { bytes in
      for (name, form) in forms where !names.contains(name) && Self.contains(bytes, form) { names.append(name) }
    }
    return names
  }

  private static func contains(_ bytes: UnsafeRawBufferPointer, _ form: [UInt8]) -> Bool {
    guard var rest = bytes.baseAddress, let first = form.first else { return false }
    var count = bytes.count
    while count >= form.count, let next = memchr(rest, Int32(first), count - form.count + 1) {
      if memcmp(next, form, form.count) == 0 { return true }
      count -= UnsafeRawPointer(next) + 1 - rest
      rest = UnsafeRawPointer(next) + 1
    }
    return false
  }
}
