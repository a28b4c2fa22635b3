internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The source of the value of `set` or `find --value`. Determined before the user is prompted for a passphrase.
struct ValueInput {
  private enum Origin {
    case file(String)
    case input
    case prompt
  }

  private let origin: Origin
  /// Whether the value is typed at a prompt.
  var isTyped: Bool { if case .prompt = origin { true } else { false } }
  private let keepsLineEnd: Bool
  private let mayBeEmpty: Bool
  /// Whether the value is stored as text.
  private let isStored: Bool

  init(
    file: String?, keepsLineEnd: Bool, mayBeEmpty: Bool, mayPrompt: Bool, isInputTaken: Bool, isStored: Bool = false,
    hint: String = UsageRefusal.set
  ) throws(ToolError) {
    self.keepsLineEnd = keepsLineEnd
    self.mayBeEmpty = mayBeEmpty
    self.isStored = isStored
    if let file {
      try refuseDash(file, as: "--file", hint: "omit --file for standard input, or write the name - as ./-")
      origin = .file(file)
    } else if isInputTaken {
      throw .usage(
        "standard input cannot be both the passphrase and the value",
        hint: "use a different descriptor for the passphrase")
    } else if isatty(STDIN_FILENO) == 0 {
      origin = .input
    } else if mayPrompt {
      origin = .prompt
    } else {
      throw .usage("there is no value: standard input is a terminal", hint: hint)
    }
  }

  func read(_ messages: Messages) throws -> SecretBytes {
    let value = try readPlace(messages)
    // An empty value is more likely a mistake, such as a failed command in front of a pipe.
    guard value.count > 0 || mayBeEmpty else {
      throw ToolError.usage("the value is empty", hint: "--allow-empty accepts an empty value")
    }
    return value
  }

  private func readPlace(_ messages: Messages) throws -> SecretBytes {
    switch origin {
    case .file(let path):
      let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY) {
        .io("\(path): open the value's file", $0)
      }
      defer { extendLifetime(file) }
      guard isatty(file.raw) == 0 else {  // it would echo
        throw ToolError.usage("the value's file is a terminal", hint: "omit --file for a prompt without echo")
      }
      return try trimmed(
        try ValueReader.read(file.raw, atMost: ValueReader.longest, "\(path): read the value's file"), messages)
    case .input:
      return try trimmed(
        try ValueReader.read(STDIN_FILENO, atMost: ValueReader.longest, "read standard input"), messages)
    case .prompt: return try Prompt.value()
    }
  }

  /// Removes LF or CRLF from the end of a single line, as for passphrases. The end of the last of several lines is a
  /// part of the value, such as of a key that ssh reads.
  private func trimmed(_ value: consuming SecretBytes, _ messages: Messages) throws -> SecretBytes {
    let count = Self.countWithoutLineEnd(value)
    guard !keepsLineEnd, count < value.count else { return value }
    // Also in a script: the stored value is not what the file has.
    if isStored { messages.tell("removed the line ending at the end of the value; --exact keeps it") }
    return try value.prefix(count)
  }

  /// The length without the LF or CRLF at the end of a single line.
  static func countWithoutLineEnd(_ value: borrowing SecretBytes) -> Int {
    value.withUnsafeBytes { value in
      guard let end = value.firstIndex(of: 0x0A), end == value.count - 1 else { return value.count }
      return end - (value.dropLast().last == 0x0D ? 1 : 0)
    }
  }
}
