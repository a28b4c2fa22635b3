/// The arguments as they were given, without the program's name.
struct Arguments {
  let words: [String]
  /// Whether all of them are UTF-8. What is not was repaired, and could name something else than what was meant.
  var areText = true

  static func read() -> Arguments {
    var arguments: [String] = []
    var areText = true
    let pointers = CommandLine.unsafeArgv
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = pointers[index] else { break }
      let word = String(validatingCString: bytes)
      if word == nil { areText = false }
      arguments.append(word ?? String(cString: bytes))
    }
    return Arguments(words: arguments, areText: areText)
  }

  /// Whether `option` stands before the `--` that ends options.
  func contains(option: String) -> Bool { options.contains(option) }

  /// Whether an option begins so, as in `--value=…`, and like none of the exceptions.
  func contains(prefix: String, except exceptions: [String] = []) -> Bool {
    options.contains { option in option.hasPrefix(prefix) && !exceptions.contains { option.hasPrefix($0) } }
  }

  /// Whether help or the like is asked for in so many words. The parser also finds `-h` inside of `-dash`, and a key
  /// that starts with a dash must not end in help and exit code 0.
  var askForText: Bool {
    let requests = ["-h", "-help", "--help", "--help-hidden", "--version", "--experimental-dump-help"]
    return words.first == "help" || options.contains { requests.contains($0) }
      || contains(prefix: "--generate-completion-script") || words.first == "---completion"
  }

  /// What is an argument and no option, however it begins.
  var behindDashes: ArraySlice<String> { words.drop { $0 != "--" }.dropFirst() }

  private var options: ArraySlice<String> { words.prefix { $0 != "--" } }
}
