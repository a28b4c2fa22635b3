internal import Preferences
internal import VaultCore

/// A format that `export` writes.
enum ExportFormat: String, NamedFormat {
  case dotenv, json, shell, kubernetes, systemd, records, archive

  /// The object that holds all values, and the most bytes that they may have together. `nil` without such a limit.
  var limit: (holder: String, bytes: Int)? {
    switch self {
    case .dotenv, .json, .shell, .records, .archive: nil
    case .kubernetes: ("a Kubernetes Secret", 1 << 20)
    case .systemd: ("a unit of systemd", SystemdCredential.limit)
    }
  }

  /// Whether the format allows this key.
  func allows(key: String) -> Bool {
    switch self {
    case .json, .records, .archive: true
    case .dotenv: DotenvParser.isName(key)
    case .shell: VariableName.isValid(key) && !VariableName.isSetting(key)
    case .kubernetes, .systemd:
      key.utf8.count <= 253 && key != "." && !key.hasPrefix("..")
        && key.utf8.allSatisfy { Self.isWord($0) || "-_.".utf8.contains($0) }
    }
  }

  /// The name of a key in the format: the key itself, or else the name that `run` gives its variable.
  /// `nil` if the format has neither.
  ///
  /// - Parameter isVariable: Whether only the variable is wanted.
  func name(of key: String, asVariable isVariable: Bool = false) -> String? {
    ((isVariable ? [] : [key]) + [VariableName.derived(from: key)]).first(where: allows)
  }

  /// Why programs that are known to read the format do not read a name and its value as they are meant.
  func doubts(of name: String, _ value: UnsafeRawBufferPointer) throws -> [DotenvDoubt] {
    self == .dotenv ? try DotenvDoubt.all(of: name, value) : []
  }

  /// Whether the format can hold this value byte for byte.
  func allows(value: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .dotenv, .shell: !value.contains(0)
    case .json: isUTF8(value)
    case .kubernetes, .systemd, .records, .archive: true
    }
  }

  /// The rule that ``allows(key:)`` checks.
  var keyRule: String {
    switch self {
    // Any key has the name of a variable, which dotenv allows.
    case .json, .records, .archive, .dotenv: ""
    case .shell:
      "names have ASCII letters, digits and _, do not begin with a digit, and are no settings of programs, such as "
        + "PATH or PAGER"
    case .kubernetes, .systemd: "names have ASCII letters, digits, -, _ and ., and at most 253 bytes"
    }
  }

  /// Whether `text` can name an object of Kubernetes: labels of lowercase letters, digits and -, joined with dots.
  static func isObjectName(_ text: String) -> Bool {
    text.utf8.count <= 253
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
      }
  }

  func writeStart(_ name: String, to output: SecretOutput) throws(ToolError) {
    switch self {
    case .dotenv, .shell, .records, .archive, .json: break
    case .kubernetes:
      try output.write("apiVersion: v1\nkind: Secret\nmetadata:\n  name: \"\(name)\"\ntype: Opaque\ndata:\n")
    case .systemd: try output.write("[Service]\n")
    }
  }

  /// - Parameters:
  ///   - kind: what JSON writes without quotes if it has the kind.
  ///   - isFirst: whether it is the first member of its object in JSON, and `indent` what is in front of it.
  func write(
    _ key: String, _ kind: ValueKind, _ value: UnsafeRawBufferPointer, isFirst: Bool, indent: String = "  ",
    to output: SecretOutput
  ) throws {
    switch self {
    case .dotenv:
      try output.write("\(key)=")
      try DotenvText.write(value) { (byte) throws(ToolError) in try output.put(byte) }
      try output.write("\n")
    case .shell:
      try output.write("export \(key)='")
      for byte in value {
        // A quote cannot be inside single quotes.
        if byte == UInt8(ascii: "'") { try output.write(#"'\'"#) }
        try output.put(byte)
      }
      try output.write("'\n")
    case .json:
      try output.write("\(isFirst ? "\n" : ",\n")\(indent)\(JSON.string(key).text): ")
      try output.writeJSON(kind, value)
    case .kubernetes:
      try output.write("  \"\(key)\": \"")
      try output.writeBase64(value)
      try output.write("\"\n")
    case .systemd: try SystemdCredential.write(key, value, to: output)
    case .records, .archive: break  // written by RecordLine and Archive
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isWord(_ byte: UInt8) -> Bool { isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) }
}
