internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The environment of the command of `run`: the inherited one, and variables with values.
struct CommandEnvironment {
  private let names: Swift.Set<String>
  /// `NAME=value` of every variable, each followed by NUL.
  private let block: GuardedBuffer
  private var starts: [Int] = []
  /// Open until the command inherits them.
  private var files: [Descriptor<VaultError>] = []

  /// Reads the values. Nothing is started if one of them cannot be passed.
  init(_ variables: [Variable], from values: ServiceValues) throws {
    names = Swift.Set(variables.map(\.name))
    block = try GuardedBuffer()
    for variable in variables {
      starts.append(block.count)
      try block.append(variable.name + "=")
      try values.withValue(of: variable.key) { isText, bytes in
        if variable.isFile {
          files.append(try Self.file(bytes))
          try block.append("/proc/self/fd/\(files.last!.raw)")
        } else {
          guard isText, !bytes.contains(0) else { throw Self.refusal(variable, isText: isText) }
          try block.append(bytes)
        }
      }
      try block.append("\0")
    }
  }

  /// Replaces this process by a program. Returns only if that fails: the `errno`.
  func execute(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    for file in files {
      // Inherited by the program.
      guard fcntl(file.raw, F_SETFD, 0) == 0 else { return errno }
    }
    return block.withUnsafeBytes { block in
      var variables: [UnsafeMutablePointer<CChar>?] = inheritedVariables.filter { !isReplaced($0) }
      for start in starts {
        let variable = block.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self)
        variables.append(UnsafeMutablePointer(mutating: variable))
      }
      variables.append(nil)
      return replaceProcess(arguments, environment: &variables)
    }
  }

  /// Whether an inherited variable is replaced, or configures this tool and is none of the command's business.
  private func isReplaced(_ variable: UnsafeMutablePointer<CChar>) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: variable, count: strlen(variable))
    let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    return name.hasPrefix("SECRETPREFS_") || names.contains(name)
  }

  private static func file(_ content: UnsafeRawBufferPointer) throws(VaultError) -> Descriptor<VaultError> {
    try Descriptor.sealed(content.bytes, named: "secretprefs") { .io("create a file in memory", $0) }
  }

  private static func refusal(_ variable: Variable, isText: Bool) -> ToolError {
    ToolError(
      VaultError(
        .typeMismatch, "the value of the key \"\(variable.key)\" \(isText ? "contains NUL" : "is data and not text")"),
      hint: "--file NAME=key passes it as a file; --only and --env leave it out")
  }
}
