internal import DurableFiles
internal import VaultCore

/// The user's editor: the program, and arguments in front of the file.
struct Editor {
  private let words: [String]

  /// The editor of `$VISUAL`, `$EDITOR`, or vi. No shell reads the variable: it is split at spaces.
  init() throws {
    let text = try VaultLocation.variable("VISUAL") ?? VaultLocation.variable("EDITOR") ?? "vi"
    words = text.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw ToolError.usage("the variable for the editor is empty") }
  }

  /// Edits a file and waits. A signal that would end this process ends the editor first and then takes effect. The
  /// editor handles Ctrl-C and Ctrl-\ itself.
  func edit(_ file: String) throws {
    let before = PendingSignal.catchAll()
    defer { PendingSignal.restore(before) }
    signal(SIGTSTP, SIG_DFL)  // stops this process together with the editor
    let process = try start(file)
    var status: Int32 = 0
    var ended: pid_t = 0
    while true {
      ended = waitpid(process, &status, WNOHANG)
      guard ended == 0 || ended < 0 && errno == EINTR else { break }
      if let number = PendingSignal.take(), number != SIGINT, number != SIGQUIT {
        kill(process, number)
        _ = retrying { waitpid(process, &status, 0) }
        PendingSignal.keep(number)
        throw VaultError(.noCredential, "interrupted")
      }
      _ = poll(nil, 0, 20)
    }
    _ = PendingSignal.take()
    guard ended == process, status == 0 else {
      let end =
        status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
      throw ToolError.editorFailed("the editor ended with \(end)")
    }
  }

  private func start(_ file: String) throws(ToolError) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The signals that this process ignores. The system resets the caught ones by itself.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = (words + [file]).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var environment = CommandEnvironment.inherited + [nil]
    var process = pid_t()
    let number = posix_spawnp(&process, words[0], nil, &attributes, &arguments, &environment)
    guard number == 0 else { throw .editorFailed("the editor cannot be started (\(systemText(number)))") }
    return process
  }
}
