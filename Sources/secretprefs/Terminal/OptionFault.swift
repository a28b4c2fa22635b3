internal import ArgumentParser
internal import Preferences

/// What is wrong with an option of a command, as the help of the command has it.
enum OptionFault {
  /// The word is no option. The name is `nil` if the word does not have the form of one: it may be a secret.
  case unknown(name: String?, near: String?)
  case withoutValue(name: String)
  /// Nothing follows the name of an option behind `=`, which the parser does not take for an empty value.
  case emptyValue(name: String)
  /// A value follows the name of a flag behind `=`.
  case flagWithValue(name: String)
  /// The option has one value, and is there several times. The parser takes the last one.
  case repeated(name: String)
  /// The value is none that the option takes, such as a number that is too large.
  case invalidValue(name: String)
  /// The path of a file or directory is empty: that of the option, or an argument if the name is `nil`.
  case emptyPath(name: String?)

  /// The first fault of these words, in front of `--`; `nil` if there is none.
  init?(in words: ArraySlice<String>, of command: any ParsableCommand.Type) {
    let options = Self.options(of: command)
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else { continue }
      let name = String(word.prefix { $0 != "=" })
      guard let hasValue = options[name] else {
        self = Self.unknown(name, among: options.keys.filter { $0.hasPrefix("--") })
        return
      }
      switch (hasValue, name == word) {
      case (false, false):
        self = .flagWithValue(name: name)
        return
      case (true, true):
        guard let value = rest.popFirst(), value == "-" || !value.hasPrefix("-") else {
          self = .withoutValue(name: name)
          return
        }
      case (true, false) where word.hasSuffix("=") && word.count == name.count + 1:
        self = .emptyValue(name: name)
        return
      default: continue
      }
    }
    return nil
  }

  /// The option whose value the parser refuses; `nil` if it refuses something else. Its message also has the value,
  /// which may be a secret in the wrong place, so that the name alone is taken from it.
  static func invalidValue(in words: [String], of command: any ParsableCommand.Type) -> OptionFault? {
    let message: String
    do {
      _ = try Root.parseAsRoot(words)
      return nil
    } catch { message = Root.message(for: error) }
    guard let mark = message.ranges(of: "' is invalid for '").last else { return nil }
    let name = String(message[mark.upperBound...].prefix(while: isNamed))
    let options = options(of: command)
    return options[name] == true ? .invalidValue(name: name) : nil
  }

  /// The first option of these words, in front of `--`, that is there more often than the command takes it.
  static func repeated(
    in words: ArraySlice<String>, of command: any ParsableCommand.Type
  ) throws(PreferencesError) -> OptionFault? {
    var names: Set<String> = []
    let again = words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
      .filter { !names.insert($0).inserted }
    guard !again.isEmpty else { return nil }
    let single = try singleOptions(of: command)
    return again.first(where: single.contains).map { .repeated(name: $0) }
  }

  /// The first path of these words that is empty.
  static func emptyPath(
    in words: Arguments, of command: any ParsableCommand.Type
  ) throws(PreferencesError) -> OptionFault? {
    guard words.words.contains("") else { return nil }
    let declared = try declarations(of: command)
    let options = declared.filter { $0["kind"] == .string("option") }
    let isPath = declared.contains { $0["kind"] == .string("positional") && takesPath($0) }
    if isPath, words.afterTerminator.contains("") { return .emptyPath(name: nil) }
    var rest = words.options
    while let word = rest.popFirst() {
      guard let option = options.first(where: { names(of: $0).contains(word) }) else {
        if isPath, word.isEmpty { return .emptyPath(name: nil) }
        continue
      }
      if rest.popFirst() == "", takesPath(option) { return .emptyPath(name: word) }
    }
    return nil
  }

  /// The options of a command that have one value.
  private static func singleOptions(of command: any ParsableCommand.Type) throws(PreferencesError) -> Set<String> {
    let single = try declarations(of: command).filter {
      $0["kind"] == .string("option") && $0["isRepeating"] == .bool(false)
    }
    return Set(single.flatMap { names(of: $0) })
  }

  /// The options and arguments of a command, from the parser's description of it in JSON.
  private static func declarations(
    of command: any ParsableCommand.Type
  ) throws(PreferencesError) -> [[String: PreferenceValue]] {
    let help = try JSONFormat().values(from: Array(command._dumpHelp().utf8))
    guard case .dictionary(let described) = help["command"], case .array(let arguments) = described["arguments"] else {
      return []
    }
    return arguments.compactMap { if case .dictionary(let argument) = $0 { argument } else { nil } }
  }

  /// The names of an option, with their dashes.
  private static func names(of option: [String: PreferenceValue]) -> [String] {
    guard case .array(let all) = option["names"] else { return [] }
    return all.compactMap {
      if case .dictionary(let name) = $0, case .string(let text) = name["name"] { "--\(text)" } else { nil }
    }
  }

  /// Whether the value is the path of a file or directory, which shells complete as such.
  private static func takesPath(_ declaration: [String: PreferenceValue]) -> Bool {
    guard case .dictionary(let completion) = declaration["completionKind"] else { return false }
    return completion["file"] != nil || completion["directory"] != nil
  }

  /// The options that the help of a command lists, and whether each has a value. Their lines begin with two blanks and
  /// a hyphen.
  static func options(of command: any ParsableCommand.Type) -> [String: Bool] {
    let help = Root.helpMessage(for: command, includeHidden: true)
    var options: [String: Bool] = [:]
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      let words = line.split(separator: " ")
      let names = words.prefix { $0.hasPrefix("-") }
      let hasValue = words.dropFirst(names.count).first?.hasPrefix("<") ?? false
      for name in names { options[String(name.prefix { $0 != "," })] = hasValue }
    }
    return options
  }

  private static func unknown(_ name: String, among known: [String]) -> OptionFault {
    let isLong = name.hasPrefix("--")
    let isPlain =
      isLong ? name.utf8.count <= 30 && name.allSatisfy(isNamed) : name.count == 2 && name.allSatisfy(isShort)
    let words = known.map { String($0.dropFirst(2)) }.sorted()
    return .unknown(
      name: isPlain ? name : nil,
      near: isPlain && isLong ? nearest(String(name.dropFirst(2)), among: words).map { "--\($0)" } : nil)
  }

  /// Whether names of options have the character.
  private static func isNamed(_ character: Character) -> Bool { character == "-" || ("a"..."z").contains(character) }

  private static func isShort(_ character: Character) -> Bool {
    isNamed(character) || ("A"..."Z").contains(character)
  }

  func message(of command: String) -> String {
    switch self {
    case .unknown(let name, _):
      "\(name ?? "an argument that begins with a dash") is no option of \"secretprefs \(command)\""
    case .withoutValue(let name): "\(name) needs a value, which does not begin with a dash"
    case .emptyValue(let name): "\(name)= has no value; \(name) '' is an empty one"
    case .flagWithValue(let name): "\(name) takes no value"
    case .invalidValue(let name): "the value of \(name) is not one that \"secretprefs \(command)\" takes"
    case .emptyPath(let name?): "the path of \(name) is empty"
    case .emptyPath(nil): "an argument is empty"
    case .repeated(let name): "\(name) is given several times, and \"secretprefs \(command)\" takes one"
    }
  }

  /// The option that may be meant.
  var near: String? { if case .unknown(_, let near) = self { near } else { nil } }
}
