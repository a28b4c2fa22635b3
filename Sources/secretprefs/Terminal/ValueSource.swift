internal import Glibc
internal import VaultSealing

/// Where the value of `set` comes from. Decided before anybody is asked for a passphrase.
struct ValueSource {
  private enum Place {
    case file(String)
    case input
    case prompt
  }

  private let place: Place
  private let trimsNewline: Bool

  init(file: String?, trimmingNewline: Bool, mayPrompt: Bool, isInputTaken: Bool) throws(ToolError) {
    trimsNewline = trimmingNewline
    if let file {
      place = .file(file)
    } else if isInputTaken {
      throw .usage("standard input cannot be both the passphrase and the value", hint: "--file names the value's file")
    } else if isatty(STDIN_FILENO) == 0 {
      place = .input
    } else if mayPrompt {
      place = .prompt
    } else {
      throw .usage("there is no value: standard input is a terminal", hint: UsageRefusal.set)
    }
  }

  func read() throws -> SecretBytes {
    switch place {
    case .file(let path):
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
      guard descriptor >= 0 else { throw ToolError.io("\(path): open the value's file", errno) }
      defer { close(descriptor) }
      guard isatty(descriptor) == 0 else {  // it would echo
        throw ToolError.usage("the value's file is a terminal", hint: "leave --file out to be asked without echo")
      }
      return try trimmed(
        try ValueReader.read(descriptor, atMost: ValueReader.longest, "\(path): read the value's file"))
    case .input:
      return try trimmed(try ValueReader.read(STDIN_FILENO, atMost: ValueReader.longest, "read standard input"))
    case .prompt: return try Prompt.value()
    }
  }

  private func trimmed(_ value: consuming SecretBytes) throws -> SecretBytes {
    let endsLine = value.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
    return trimsNewline && endsLine ? try value.prefix(value.count - 1) : value
  }
}
