import Glibc
import Preferences
import Secrets
import VaultCore

/// This program in a second process that writes to the same vault.
///
/// It reads the key from standard input, opens the vault, reports on standard output that it is ready, starts when its
/// input ends, and prints the duration of each set.
struct WriterProcess {
  /// The first argument; what the process does, the vault, the number of the first key and the number of sets follow.
  static let argument = "writer"

  /// What a writer process does.
  enum Work: Equatable {
    /// Sets values of the vault.
    case sets
    /// Makes the calls that a set cannot do without: lock, overwrite, sync, unlock.
    case calls
    #if PostgreSQL
      case database(DatabaseWork)
    #endif

    init(_ word: String) {
      switch word {
      case "sets": self = .sets
      case "calls": self = .calls
      #if PostgreSQL
        case let word: self = .database(DatabaseWork(rawValue: word)!)
      #else
        default: preconditionFailure("no work of a writer: \(word)")
      #endif
      }
    }

    var word: String {
      switch self {
      case .sets: "sets"
      case .calls: "calls"
      #if PostgreSQL
        case .database(let work): work.rawValue
      #endif
      }
    }
  }

  private let process: pid_t
  private let input: Int32
  private let output: Int32
  private let sets: Int

  /// - Parameter place: the path or the URL.
  init(_ work: Work, in place: String, _ key: SealingKey, from first: Int, sets: Int) throws {
    let (forInput, forOutput) = (try Self.pipe(), try Self.pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, forInput.reading, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, forOutput.writing, STDOUT_FILENO)
    let words = ["Benchmarks", Self.argument, work.word, place, String(first), String(sets)]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let failure = posix_spawn(&process, "/proc/self/exe", &actions, nil, &arguments, environ)
    guard failure == 0 else { throw VaultError(.io, "no process for a writer", errno: failure) }
    close(forInput.reading)
    close(forOutput.writing)
    self.process = process
    input = forInput.writing
    output = forOutput.reading
    self.sets = sets
    try KeyText.write(key).withUnsafeBytes { _ = write(input, $0.baseAddress, $0.count) }
    try Self.receive(UInt8.self, from: output)
  }

  func begin() { close(input) }

  /// Waits for the end of its sets. Returns how long each took, in nanoseconds.
  func durations() throws -> [Double] {
    let durations = try (0..<sets).map { _ in try Self.receive(Double.self, from: output) }
    close(output)
    waitpid(process, nil, 0)
    return durations
  }

  /// What the process does, given the arguments behind the first.
  static func run(_ arguments: [String]) throws {
    let key = try withUnsafeTemporaryAllocation(byteCount: KeyText.count, alignment: 1) { text in
      guard read(STDIN_FILENO, text.baseAddress, text.count) == text.count else { throw ended }
      return try Vault.Credential.key(text: RawSpan(_unsafeBytes: UnsafeRawBufferPointer(text)))
    }
    let path = arguments[1]
    let first = Int(arguments[2])!
    let set: (Int) throws -> Void
    switch Work(arguments[0]) {
    case .sets:
      let tokens = try SecretPreferences(service: Sample.service, in: try Vault.open(at: path, credential: key))
      set = { try tokens.set(Sample.secret, forKey: Sample.key($0)) }
    case .calls:
      var limit = OverwriteLimit(path + ".calls", bytes: 384, from: first * 384)
      set = { _ in limit.lockedCall() }
    #if PostgreSQL
      case .database(let work): set = try work.set(path, credential: key)
    #endif
    }
    var durations: [Double] = []
    send(UInt8(0))
    var byte: UInt8 = 0
    _ = read(STDIN_FILENO, &byte, 1)
    for index in 0..<Int(arguments[3])! {
      let start = Timing.now()
      try set(first + index)
      durations.append(Timing.now() - start)
    }
    for duration in durations { send(duration) }
  }

  private static let ended = VaultError(.io, "a writer process ended too early")

  /// Both ends are closed in every other process, so that its end is seen.
  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw VaultError(.io, "no pipe to a writer", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func send<T: BitwiseCopyable>(_ value: T) {
    withUnsafeBytes(of: value) { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  @discardableResult
  private static func receive<T: BitwiseCopyable & Numeric>(_: T.Type, from descriptor: Int32) throws -> T {
    var value = T.zero
    let count = withUnsafeMutableBytes(of: &value) { read(descriptor, $0.baseAddress, $0.count) }
    guard count == MemoryLayout<T>.size else { throw ended }
    return value
  }
}
