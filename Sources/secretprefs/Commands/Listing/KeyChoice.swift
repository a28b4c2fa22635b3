/// Which keys a command takes: those that match one of the patterns, or all, but none that matches an exception.
struct KeyChoice {
  var matching: [KeyPattern] = []
  var except: [KeyPattern] = []

  /// Whether there is neither a pattern nor an exception.
  var isEveryKey: Bool { matching.isEmpty && except.isEmpty }

  func includes(_ key: String) -> Bool {
    (matching.isEmpty || matching.contains { $0.matches(key) }) && !except.contains { $0.matches(key) }
  }
}
