internal import DurableFiles
internal import VaultCore

/// A file with settings: one `name = value` a line, empty lines, and lines that begin with `#`.
///
/// Spaces and tabs around the name and the value do not count. There are no quotes and no escapes, so a value has no
/// line feed. One in quotation marks, or with a blank and a `#` in it, is refused: other files have quotes and comments
/// there. A setting is set once.
struct ConfigurationFile {
  struct Line {
    let number: Int
    let setting: ToolSetting
    /// As it is written.
    let value: String
  }

  /// The most bytes of a file.
  static let longest = 65_536
  /// The most lines that an error names.
  static let mostProblems = 100

  let path: String
  let isProject: Bool
  private(set) var lines: [Line] = []
  /// All lines that are bad.
  private(set) var problems: [PlainRecords.Part] = []

  /// - Parameters:
  ///   - path: The path of the file, for errors and relative paths in it.
  ///   - isProject: Whether it is the file of a project, which may have fewer settings.
  init(_ path: String, isProject: Bool, _ bytes: [UInt8]) {
    self.path = path
    self.isProject = isProject
    for (index, line) in Self.split(bytes).enumerated() {
      let line = index == 0 && line.starts(with: Self.byteOrderMark) ? line.dropFirst(Self.byteOrderMark.count) : line
      do throws(Fault) {
        guard let line = try parse(line, number: index + 1) else { continue }
        lines.append(line)
      } catch {
        problems.append(PlainRecords.Part(line: index + 1, name: path, reason: error.reason, isPlace: true))
      }
    }
  }

  /// Some editors write it at the start of a file.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  private struct Fault: Error {
    let reason: String
  }

  private func parse(_ bytes: ArraySlice<UInt8>, number: Int) throws(Fault) -> Line? {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(reason: "the line is not UTF-8") }
    let isControl = { (scalar: Unicode.Scalar) in scalar.value != 0x09 && scalar.properties.generalCategory == .control
    }
    guard !text.unicodeScalars.contains(where: isControl) else {
      throw Fault(
        reason: bytes.last == UInt8(ascii: "\r")
          ? "the line ends with a carriage return" : "the line has a control character")
    }
    let content = Self.trimmed(bytes)
    guard let first = content.first, first != UInt8(ascii: "#") else { return nil }
    guard let sign = content.firstIndex(of: UInt8(ascii: "=")) else {
      throw Fault(reason: "the line is not of the form name = value")
    }
    let name = String(decoding: Self.trimmed(content[..<sign]), as: UTF8.self)
    let value = String(decoding: Self.trimmed(content[(sign + 1)...]), as: UTF8.self)
    guard let setting = ToolSetting(rawValue: name) else { throw Fault(reason: Self.unknown(name)) }
    guard !isProject || setting.isForProjects else {
      throw Fault(reason: "\(name) can be set in the user's file only")
    }
    if let earlier = lines.first(where: { $0.setting == setting }) {
      throw Fault(reason: "\(name) is set in line \(earlier.number) already")
    }
    guard !value.isEmpty else { throw Fault(reason: "\(name) has no value") }
    guard value.first != "=" else { throw Fault(reason: "\(name) has two equals signs") }
    if let mark = value.first, mark == value.last, value.utf8.count > 1, mark == "\"" || mark == "'" {
      throw Fault(reason: "\(name) is in quotation marks, which would be part of it")
    }
    guard !value.contains(" #"), !value.contains("\t#") else {
      throw Fault(reason: "\(name) has a comment behind it; a comment has a line of its own")
    }
    if let objection = setting.objection(to: value, inProject: isProject) {
      throw Fault(reason: "\(name) \(objection)")
    }
    return Line(number: number, setting: setting, value: value)
  }

  /// The name is repeated only if it can be one of a setting: it may be a secret in the wrong place.
  private static func unknown(_ name: String) -> String {
    let isPlain = { (byte: UInt8) in (0x61...0x7A).contains(byte) || "-._".utf8.contains(byte) }
    guard (1...30).contains(name.utf8.count), name.utf8.allSatisfy(isPlain) else { return "there is no such setting" }
    let near = nearest(name, among: ToolSetting.allCases.map(\.rawValue)).map { "; did you mean \($0)?" } ?? ""
    return "there is no setting \(name)\(near)"
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let start = bytes.drop(while: isBlank)
    guard let last = start.lastIndex(where: { !isBlank($0) }) else { return [] }
    return start[...last]
  }

  /// The value of a setting and where it is; `nil` if the file does not have it. The path of a vault is absolute.
  func value(of setting: ToolSetting) -> (text: String, origin: SettingOrigin)? {
    guard let line = lines.first(where: { $0.setting == setting }) else { return nil }
    let origin: SettingOrigin =
      isProject ? .project(file: path, line: line.number) : .user(file: path, line: line.number)
    return (setting == .vault ? absolute(line.value) : line.value, origin)
  }

  private func absolute(_ vault: String) -> String {
    guard !vault.hasPrefix("/"), !DatabaseURL.hasScheme(vault) else { return vault }
    guard vault.hasPrefix("~/") else { return "\(PathName.directory(of: path))/\(vault)" }
    return (ConfigurationFolder.home ?? "") + vault.dropFirst()
  }

  /// The bytes of a file with a changed setting. Comments and other lines stay as they are.
  ///
  /// - Parameter value: The new value; `nil` to remove the line.
  func changing(_ setting: ToolSetting, to value: String?, in bytes: [UInt8]) -> [UInt8] {
    var parts = Self.split(bytes).map { Array($0) }
    let new = value.map { Array("\(setting.name) = \($0)".utf8) }
    if let line = lines.first(where: { $0.setting == setting }) {
      if let new { parts[line.number - 1] = new } else { parts.remove(at: line.number - 1) }
    } else if let new {
      // The last part is what follows the last line feed.
      if parts.last?.isEmpty == true { parts.removeLast() }
      parts += [new, []]
    }
    return Array(parts.joined(separator: [UInt8(ascii: "\n")]))
  }
}
