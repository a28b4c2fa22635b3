internal import DurableFiles
internal import VaultCore

/// The user's editor: the program, and arguments in front of the file.
struct Editor {
  /// The editor ended, but not because the user said so. What was saved until then is in the file.
  struct Stopped: Error {
    let error: any Error
  }

  private let words: [String]

  /// The editor of `$VISUAL`, `$EDITOR`, or vi. No shell reads the variable, but its words are those that one would
  /// read.
  init() throws {
    var (name, text) = ("VISUAL", try VaultLocation.variable("VISUAL"))
    if text == nil {
      name = "EDITOR"
      text = try VaultLocation.variable("EDITOR")
    }
    words = try ShellWords.split(text ?? "vi", of: "the variable \(name)")
    guard !words.isEmpty else { throw ToolError.usage("the variable for the editor is empty") }
  }

  /// Edits a file and waits. A signal that would end this process ends the editor first and then takes effect. The
  /// editor handles Ctrl-C and Ctrl-\ itself. An editor that is killed leaves the terminal's mode to this function.
  func edit(_ file: String) throws {
    let before = PendingSignal.catchAll()
    defer { PendingSignal.restore(before) }
    signal(SIGTSTP, SIG_DFL)  // stops this process together with the editor
    let terminal = TerminalMode()
    let child = try start(file)
    var process: pid_t?
    var received: Int32?
    while true {
      if received == nil, let process, let number = PendingSignal.take(), number != SIGINT, number != SIGQUIT {
        received = number
        kill(process, number)
      }
      // The timeout limits the delay of a signal that arrives between `take()` and `poll`.
      var report = pollfd(fd: child.report, events: Int16(POLLIN), revents: 0)
      guard poll(&report, 1, 100) > 0 else { continue }
      switch child.next() {
      case .started(let number): process = number
      case .stopped: break
      case .notStarted(let number): throw Self.notStarted(number)
      case .exited(let code): return try Self.finish(code == 0 ? nil : "status \(code)", isStopped: false, received)
      case .killed(let number):
        terminal?.restore()
        return try Self.finish("signal \(number)", isStopped: true, received)
      // It may go on with its file.
      case nil: throw Stopped(error: ToolError.editorFailed("the process that waits for the editor was killed"))
      }
    }
  }

  private static func finish(_ failure: String?, isStopped: Bool, _ received: Int32?) throws {
    // The keys of the editor were for the editor.
    let late = PendingSignal.take().flatMap { [SIGINT, SIGQUIT].contains($0) ? nil : $0 }
    PendingSignal.keep(received ?? late ?? 0)
    guard received == nil else { throw Stopped(error: VaultError(.noCredential, "interrupted")) }
    guard let failure else { return }
    let error = ToolError.editorFailed("the editor ended with \(failure)")
    if isStopped { throw Stopped(error: error) } else { throw error }
  }

  private func start(_ file: String) throws(ToolError) -> ChildProcess {
    var arguments: [UnsafeMutablePointer<CChar>?] = (ViArguments.adding(to: words) + [file]).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var environment = CommandEnvironment.inherited + [nil]
    let (child, number) = ProcessHardening.withInheritedSignals {
      (ChildProcess(&arguments, environment: &environment, standard: [0, 1, 2]), errno)
    }
    guard let child else { throw Self.notStarted(number) }
    return child
  }

  private static func notStarted(_ number: Int32) -> ToolError {
    .editorFailed("the editor cannot be started (\(systemText(number)))")
  }
}
