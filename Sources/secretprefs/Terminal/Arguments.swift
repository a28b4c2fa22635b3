internal import ArgumentParser
internal import DurableFiles

/// The command line arguments, without the program's name. A name that stands for a command counts as its first word.
struct Arguments {
  let words: [String]
  /// Whether all arguments are valid UTF-8. Others were repaired when decoding and could name a different file or key.
  /// The words after the `--` of `run` do not matter: it passes their bytes on.
  var areText = true

  static func read() -> Arguments {
    var arguments: [String] = []
    var areText = true
    let pointers = launchArguments.compactMap(\.self)
    if let program = pointers.first, let command = HelperLink.command(of: String(cString: program)) {
      arguments.append(command)
    }
    for bytes in pointers.dropFirst() {
      let word = String(validatingCString: bytes)
      if word == nil, arguments.first != "run" || !arguments.contains("--") { areText = false }
      arguments.append(word ?? String(cString: bytes))
    }
    return Arguments(words: arguments, areText: areText)
  }

  /// Whether `option` occurs before the `--` that ends the options.
  func contains(option: String) -> Bool { options.contains(option) }

  /// The value of an option that has one; `nil` if the option is not given.
  func value(of option: String) -> String? {
    for (index, word) in zip(options.indices, options) {
      if word == option { return options.dropFirst(index + 1).first }
      if word.hasPrefix("\(option)=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }

  /// Whether an option starts with `prefix`, as in `--value=…`, and with none of `exceptions`.
  func contains(prefix: String, except exceptions: [String] = []) -> Bool {
    options.contains { option in option.hasPrefix(prefix) && !exceptions.contains { option.hasPrefix($0) } }
  }

  /// Whether an argument explicitly requests help, the version or a completion script. The argument parser also finds
  /// `-h` inside `-dash`, but a key that starts with a dash must not print help and exit with 0.
  var requestHelp: Bool {
    let requests = ["-h", "-help", "--help", "--help-hidden", "--version", "--experimental-dump-help"]
    return words.first == "help" || options.contains { requests.contains($0) }
      || contains(prefix: "--generate-completion-script") || requestCandidates
  }

  /// Whether help is requested for a command that does not exist, for which the parser prints the general help.
  var requestUnknownHelp: Bool {
    guard words.first == "help", let word = words.dropFirst().first, !word.hasPrefix("-") else { return false }
    return word != "help" && !Root.configuration.subcommands.contains { $0.configuration.commandName == word }
  }

  /// Whether a completion script asks for candidates.
  var requestCandidates: Bool { words.first == "---completion" }

  /// The arguments after `--`, which are never options.
  var afterTerminator: ArraySlice<String> { words.drop { $0 != "--" }.dropFirst() }

  /// The arguments in front of `--`.
  var options: ArraySlice<String> { words.prefix { $0 != "--" } }
}
