internal import Preferences
internal import VaultCore
internal import VaultSealing

/// Why other programs do not read an exported line of a dotenv file as it is meant.
enum DotenvDoubt: CaseIterable {
  case name, setting, syntax, lines, text, reference

  /// What a warning says in front of the keys whose lines have it.
  var warning: String {
    switch self {
    case .name:
      "a shell takes the lines of these keys for commands and shows them in errors, systemd ignores them, and "
        + "--variables writes them under names of variables"
    case .setting: "programs read the variables of these keys as settings, which changes how they work or what they run"
    case .syntax: "some programs read these values, or lines behind them, differently"
    case .lines: "docker reads each line of these values as a line of the file, which can set other variables"
    case .text: "systemd and other programs ignore these values, which are not UTF-8 or have noncharacters of Unicode"
    case .reference: "run --env-file and import take these values for references or encrypted, and not as they are"
    }
  }

  /// All that the line of a name and a value has.
  static func all(of name: String, _ value: UnsafeRawBufferPointer) throws -> [DotenvDoubt] {
    try allCases.filter { try $0.concerns(name, value) }
  }

  private func concerns(_ name: String, _ value: UnsafeRawBufferPointer) throws -> Bool {
    switch self {
    case .name: return !VariableName.isValid(name)
    case .setting: return VariableName.isValid(name) && VariableName.isSetting(name)
    case .syntax: return try Self.hasImportNote(value)
    case .lines: return value.contains(UInt8(ascii: "\n"))
    case .text: return !Self.isText(value)
    case .reference: return !EnvFile.isPlain(value)
    }
  }

  /// Whether `import` has a note on the line that an export makes of the value.
  private static func hasImportNote(_ value: UnsafeRawBufferPointer) throws -> Bool {
    let line = try SecretOutput(isCollecting: true)
    try ExportFormat.dotenv.write("A", .string, value, isFirst: true, to: line)
    return try line.withBytes { written in
      var copy = try SecretBytes(count: written.count)
      return try copy.withUnsafeMutableBytes { bytes in
        bytes.copyMemory(from: written)
        var parser = DotenvParser(bytes, readingForeignForms: true)
        return try parser.nextEntry()?.doubt != nil
      }
    }
  }

  /// Whether the value is UTF-8 without noncharacters, such as U+FFFE.
  private static func isText(_ value: UnsafeRawBufferPointer) -> Bool {
    var (decoder, bytes) = (UTF8(), value.makeIterator())
    while true {
      switch decoder.decode(&bytes) {
      case .scalarValue(let scalar): if scalar.properties.isNoncharacterCodePoint { return false }
      case .emptyInput: return true
      case .error: return false
      }
    }
  }
}
