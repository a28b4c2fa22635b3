internal import DurableFiles
internal import VaultCore

/// A program that runs beside this one, and what it writes to its standard output.
final class OtherProgram {
  /// The descriptor to read its output from; -1 after ``end()``.
  private(set) var output: Int32
  private let name: String
  private let child: ChildProcess

  /// Starts a program, which is looked up in `PATH` as by a shell. It inherits the environment except this tool's
  /// variables.
  ///
  /// - Parameters:
  ///   - name: its name in errors.
  ///   - words: the program and its arguments.
  ///   - variables: `NAME=value`, in addition.
  ///   - removed: names of variables that it does not inherit.
  ///   - input: its standard input; `nil` for none.
  ///   - isQuiet: whether its error messages are dropped.
  init(
    _ name: String, _ words: [String], adding variables: [String] = [], removing removed: Set<String> = [],
    input: Int32? = nil, isQuiet: Bool = false
  ) throws(VaultError) {
    self.name = name
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (text: String) in strdup(text)! } + [nil]
    let added = variables.map { (text: String) in strdup(text)! }
    defer { for pointer in arguments + added { free(pointer) } }
    var environment = CommandEnvironment.inherited(except: removed) + added + [nil]
    let null = try Descriptor<VaultError>.open("/dev/null", O_RDWR) { .io("open /dev/null", $0) }
    defer { extendLifetime(null) }
    guard let pipe = ChildProcess.pipe() else { throw .io("create a pipe") }
    defer { close(pipe.writing) }
    output = pipe.reading
    let child: ChildProcess?
    let number: Int32
    do throws(ToolError) {
      (child, number) = try ProcessHardening.suspended {
        let child = ChildProcess(
          &arguments, environment: &environment,
          standard: [input ?? null.raw, pipe.writing, isQuiet ? null.raw : STDERR_FILENO])
        return (child, errno)
      }
    } catch { throw VaultError(.io, error.message) }
    guard let child else {
      close(pipe.reading)
      throw .io("start \(name)", number)
    }
    self.child = child
  }

  deinit { closeOutput() }

  /// Closes the output, and waits until the program has ended, by an exit code or a signal.
  func end() throws(VaultError) -> ChildProcess.StateChange {
    closeOutput()
    while let event = child.next() {
      switch event {
      case .started, .stopped: continue
      case .notStarted(let number): throw .io("start \(name)", number)
      case .exited, .killed: return event
      }
    }
    throw .io("wait for \(name)", ECHILD)
  }

  /// Whether the program ends with exit code 0.
  func succeeds() throws(VaultError) -> Bool { if case .exited(0) = try end() { true } else { false } }

  private func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
  }
}
