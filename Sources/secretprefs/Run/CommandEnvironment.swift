internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The environment of the command of `run`: the inherited one, and variables with values.
struct CommandEnvironment {
  private let names: Set<String>
  /// `NAME=value` of every variable, each followed by NUL.
  private let block: GuardedBuffer
  private var starts: [Int] = []
  /// Open until the command inherits them.
  private var files: [Descriptor<VaultError>] = []

  /// Reads each value once, because reads may be logged. Nothing is started if one of them cannot be passed.
  ///
  /// - Parameter body: is called with each key and its value.
  init(
    _ variables: [Variable], from values: ServiceValues,
    _ body: (_ key: String, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    names = Set(variables.map(\.name))
    block = try GuardedBuffer()
    let byKey = Dictionary(grouping: variables, by: \.key)
    var known = Set<String>()
    for key in variables.map(\.key) where known.insert(key).inserted {
      try values.withValue(of: key) { isText, bytes in
        try body(key, bytes)
        for variable in byKey[key]! { try append(variable, isText: isText, bytes) }
      }
    }
  }

  private mutating func append(_ variable: Variable, isText: Bool, _ bytes: UnsafeRawBufferPointer) throws {
    starts.append(block.count)
    try block.append(variable.name + "=")
    if variable.isFile {
      files.append(try Self.file(bytes))
      try block.append("/proc/self/fd/\(files.last!.raw)")
    } else {
      guard isText, !bytes.contains(0) else { throw Self.refusal(variable, isText: isText) }
      try block.append(bytes)
    }
    try block.append("\0")
  }

  /// Replaces this process by a program. Returns the `errno` if that fails.
  func execute(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    withVariables { replaceProcess(arguments, environment: $0) }
  }

  /// Lends the environment, and lets programs inherit the files.
  func withVariables<R>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    for file in files { _ = fcntl(file.raw, F_SETFD, 0) }
    return block.withUnsafeBytes { block in
      var variables = Self.inherited.filter { !names.contains(Self.name(of: $0!)) }
      for start in starts {
        let variable = block.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self)
        variables.append(UnsafeMutablePointer(mutating: variable))
      }
      variables.append(nil)
      return body(&variables)
    }
  }

  /// The inherited variables, except those that configure this tool. No element is `nil`.
  static var inherited: [UnsafeMutablePointer<CChar>?] { inherited(except: []) }

  /// The inherited variables, except those that configure this tool and `names`. No element is `nil`.
  static func inherited(except names: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
    inheritedVariables.filter { variable in
      let name = name(of: variable)
      return !name.hasPrefix("SECRETPREFS_") && !names.contains(name)
    }
  }

  private static func name(of variable: UnsafeMutablePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: variable, count: strlen(variable))
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
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
