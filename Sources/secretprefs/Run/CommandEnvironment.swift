internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The environment of the command of `run`: the inherited one, and variables with values.
struct CommandEnvironment {
  private let names: Set<String>
  /// `NAME=value` of every variable, each followed by NUL.
  private let block: GuardedBuffer
  private var starts: [Int] = []
  /// The longest value of the vault in a variable.
  private var longest: (variable: Variable, count: Int)?
  /// The files of values; `nil` if there is none.
  private var folder: MemoryFolder?
  private let keepsSettings: Bool

  /// Reads each value once, because reads may be logged. Nothing is started if one of them cannot be passed.
  ///
  /// - Parameters:
  ///   - keepsSettings: whether the command inherits the variables that configure this tool.
  ///   - body: is called with each value of the vault, and its first variable.
  init(
    _ variables: [FoundVariable], keepsSettings: Bool,
    _ body: (FoundVariable, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    names = Set(variables.map(\.variable.name))
    self.keepsSettings = keepsSettings
    block = try GuardedBuffer()
    let byRecord = Dictionary(grouping: variables, by: \.found?.identity)
    var known = Set<ReferencedValues.Identity>()
    for first in variables {
      guard let found = first.found else {
        try append(plain: first.variable)
        continue
      }
      guard known.insert(found.identity).inserted else { continue }
      do {
        try ReferencedValues.withValue(of: found, isNamed: first.variable.origin != nil) { isText, bytes in
          try body(first, bytes)
          for other in byRecord[found.identity] ?? [] { try append(other.variable, isText: isText, bytes) }
        }
      } catch let refusal as VariableRefusal {
        throw refusal.error
      } catch { throw first.variable.located(ToolError(thrown: error)) }
    }
  }

  private mutating func append(plain variable: Variable) throws {
    guard case .plain(let file, let range) = variable.content else { return }
    starts.append(block.count)
    try block.append(variable.name + "=")
    try file.withValue(range) { try block.append($0) }
    try block.append("\0")
  }

  private mutating func append(_ variable: Variable, isText: Bool, _ bytes: UnsafeRawBufferPointer) throws {
    starts.append(block.count)
    try block.append(variable.name + "=")
    if variable.isFile {
      let folder = try self.folder ?? MemoryFolder("the files of the command")
      self.folder = folder
      try block.append(try folder.add(bytes, named: variable.name))
    } else {
      guard isText, !bytes.contains(0) else { throw VariableRefusal(variable, isText: isText) }
      if bytes.count > longest?.count ?? 0 { longest = (variable, bytes.count) }
      try block.append(bytes)
    }
    try block.append("\0")
  }

  /// Whether something must be removed when the command ends.
  var hasFiles: Bool { folder != nil }

  /// Leaves the files to a command that may still run, and to the next use after it.
  func leaveFiles() { folder?.leave() }

  /// The error of a command that cannot be started with these variables.
  func notStarted(_ number: Int32) -> ToolError {
    let error = ToolError.notStarted(number)
    guard number == E2BIG, let longest else { return error }
    let (name, key) = (longest.variable.name, longest.variable.label)
    return error.with(
      hint: "the longest value is that of \(displayed(key)); --file \(name)=\(shellWord(key)) passes it as a file")
  }

  /// Replaces this process by a program. Returns the `errno` if that fails.
  func execute(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    withVariables { replaceProcess(arguments, environment: $0) }
  }

  /// Lends the environment, and lets programs inherit the lock of the files.
  func withVariables<R>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    folder?.shareLock()
    return block.withUnsafeBytes { block in
      var variables = (keepsSettings ? inheritedVariables : Self.inherited).filter {
        !names.contains(Self.name(of: $0!))
      }
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
}
