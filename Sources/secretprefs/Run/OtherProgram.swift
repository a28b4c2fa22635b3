internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A program that runs beside this one, and what it writes to its standard output.
final class OtherProgram {
  /// Where its output is read.
  let output: Int32
  private let name: String
  private let child: ChildProcess

  /// Starts a program, which is looked up like a shell does. Its environment is that of this process without the
  /// variables of this tool.
  ///
  /// - Parameters:
  ///   - words: the program and its arguments.
  ///   - variables: `NAME=value`, in addition.
  ///   - input: its standard input; `nil` for none.
  ///   - isQuiet: whether its error messages are dropped.
  init(_ words: [String], adding variables: [String] = [], input: Int32? = nil, isQuiet: Bool) throws {
    name = words[0]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (text: String) in strdup(text)! } + [nil]
    let added = variables.map { (text: String) in strdup(text)! }
    defer { for pointer in arguments + added { free(pointer) } }
    var environment = CommandEnvironment.inherited + added + [nil]
    let null = try Descriptor<VaultError>.open("/dev/null", O_RDWR) { .io("open /dev/null", $0) }
    guard let pipe = ChildProcess.pipe() else { throw ToolError.io("create a pipe", errno) }
    try ProcessHardening.undo()
    let child = ChildProcess(
      &arguments, environment: &environment,
      standard: [input ?? null.raw, pipe.writing, isQuiet ? null.raw : STDERR_FILENO])
    let number = errno
    close(pipe.writing)
    try ProcessHardening.apply()
    guard let child else {
      close(pipe.reading)
      throw ToolError.io("start \(name)", number)
    }
    (output, self.child) = (pipe.reading, child)
  }

  deinit { close(output) }

  /// Waits until the program has ended. Whether it has succeeded.
  func succeeds() throws(ToolError) -> Bool {
    while let event = child.next() {
      switch event {
      case .started: continue
      case .notStarted(let number): throw .io("start \(name)", number)
      case .exited(let status): return status == 0
      case .stopped, .killed: return false
      }
    }
    return false
  }
}
