internal import VaultCore

/// Which keys a command takes: those that match one of the patterns, or all, but none that matches an exception.
struct KeyChoice {
  var matching: [KeyPattern] = []
  var except: [KeyPattern] = []

  /// Whether there is neither a pattern nor an exception.
  var isEveryKey: Bool { matching.isEmpty && except.isEmpty }

  /// Refuses a pattern or an exception that no key matches: it may be misspelled, and then keys are taken that are not
  /// meant, or others are missing.
  ///
  /// - Parameters:
  ///   - keys: All keys that are chosen from.
  ///   - hint: How to see which keys match a pattern.
  func checkUse(of keys: some Sequence<String>, _ hint: String) throws(ToolError) {
    var unused = [("--match", matching), ("--except", except)].flatMap { option, patterns in
      patterns.map { (option: option, pattern: $0) }
    }
    for key in keys where !unused.isEmpty { unused.removeAll { $0.pattern.matches(key) } }
    guard let first = unused.first else { return }
    // If nothing is chosen, that is what is wrong, whatever the exceptions are.
    guard matching.count > 1 || first.option == "--except" else { throw .noMatchingKey(hint) }
    throw ToolError(
      VaultError(.notFound, "no key matches \(first.option) \(shellWord(first.pattern.text))"), hint: hint)
  }

  func includes(_ key: String) -> Bool {
    (matching.isEmpty || matching.contains { $0.matches(key) }) && !except.contains { $0.matches(key) }
  }
}
