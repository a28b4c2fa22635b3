import Foundation

/// Runs programs the way a shell without a terminal would: in a session of their own, with a clean environment.
enum Tool {
  /// How a program ended and what it wrote.
  struct Outcome {
    /// The exit code; 128 + n after signal n, as a shell has it.
    let exit: Int32
    let output: Data
    let errors: Data

    var text: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: errors, as: UTF8.self) }
  }

  struct TookTooLong: Error {}

  /// The built tool: the one beside the running test program, unless SECRETPREFS_TOOL names a different build.
  static let path =
    ProcessInfo.processInfo.environment["SECRETPREFS_TOOL"]
    ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path + "/secretprefs"

  static var folder: String { URL(filePath: path).deletingLastPathComponent().path }

  /// Runs the tool.
  static func run(
    _ arguments: [String], in home: Scratch, input: String = "/dev/null", environment: [String: String] = [:]
  ) throws -> Outcome {
    try Running([path] + arguments, in: home, input: input, environment: environment).wait()
  }

  /// Runs a line of shell, in which the tool is called `secretprefs`. Programs leave no core files unless it says so.
  static func shell(_ line: String, in home: Scratch) throws -> Outcome {
    try Running(["/bin/sh", "-c", "ulimit -S -c 0; " + line], in: home, input: "/dev/null").wait()
  }
}

/// A started program.
final class Running {
  let process: pid_t
  private var isReaped = false
  private let outputs: (output: String, errors: String)

  /// - Parameter input: opened as standard input; a terminal becomes the controlling terminal.
  init(_ arguments: [String], in home: Scratch, input: String, environment: [String: String] = [:]) throws {
    let mark = UUID().uuidString
    outputs = (home.file(".output-" + mark), home.file(".errors-" + mark))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDWR, 0)
    posix_spawn_file_actions_addopen(&actions, 1, outputs.output, O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, outputs.errors, O_WRONLY | O_CREAT, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads of a test block signals, swift-nio ignores SIGPIPE, and a child would inherit both.
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let session = Int16(0x80)  // POSIX_SPAWN_SETSID, which Glibc's module does not show
    posix_spawnattr_setflags(&attributes, session | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var variables = [
      "HOME": home.path, "PATH": Tool.folder + ":/usr/bin:/bin", "COLUMNS": "80",
      "TRANSCRIPTS": Bundle.module.resourcePath! + "/Transcripts",
    ]
    variables.merge(DatabaseServer.folders) { _, new in new }
    variables.merge(environment) { _, new in new }
    // Changing the folder is left to env, since Glibc's module does not show the spawn action for it.
    let arguments = ["/usr/bin/env", "-C", home.path] + arguments
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var process = pid_t()
    let failure = posix_spawn(&process, arguments[0], &actions, &attributes, &argv, &envp)
    guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
    self.process = process
  }

  /// A test that throws leaves no process behind: the testing library waits for children, too, and a zombie that it
  /// does not know can hide those that it waits for.
  deinit {
    guard !isReaped else { return }
    var status: Int32 = 0
    kill(process, SIGKILL)
    waitpid(process, &status, 0)
  }

  /// Waits for its end; a program that hangs is killed, and the test fails.
  func wait(atMost limit: Duration = .seconds(300)) throws -> Tool.Outcome {
    defer { isReaped = true }
    let end = ContinuousClock.now + limit
    var status: Int32 = 0
    while waitpid(process, &status, WNOHANG) == 0 {
      guard ContinuousClock.now < end else {
        kill(process, SIGKILL)
        waitpid(process, &status, 0)
        throw Tool.TookTooLong()
      }
      usleep(1000)
    }
    let exit = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    return Tool.Outcome(
      exit: exit, output: try Data(contentsOf: URL(filePath: outputs.output)),
      errors: try Data(contentsOf: URL(filePath: outputs.errors)))
  }
}
