#if ServiceLifecycle
  import Foundation
  import InMemoryLogging
  import Logging
  import Secrets
  import SecretsTesting
  import ServiceLifecycle
  import Synchronization
  import Testing

  let service = "com.example.test"

  /// Counts, or collects lines, from any thread.
  final class Events: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// A logger whose lines a test reads.
  struct Journal: Sendable {
    let handler: InMemoryLogHandler
    let logger: Logger

    init() {
      var handler = InMemoryLogHandler()
      handler.logLevel = .trace
      self.handler = handler
      logger = Logger(label: "test") { [handler] _ in handler }
    }

    var entries: [InMemoryLogHandler.Entry] { handler.entries }
    /// Each line's level and message.
    var lines: [String] { entries.map { "\($0.level) \($0.message)" } }
    /// Everything that a handler receives, in every form that it may print.
    var text: String {
      entries.map { "\($0.message) \($0.metadata) \(String(reflecting: $0)) \($0.error, default: "-")" }
        .joined(separator: "\n")
    }
  }

  /// A service of a program: it runs `body` and is told by the group when to end.
  struct Dependent: Service {
    let body: @Sendable () async throws -> Void
    func run() async throws { try await body() }
  }

  /// A key that a test replaces, as an operator replaces a key file.
  final class CurrentKey: Sendable {
    private let key: Mutex<SealingKey>
    init(_ key: SealingKey) { self.key = Mutex(key) }
    func replace(with new: SealingKey) { key.withLock { $0 = new } }
    var unlocking: Unlocking { Unlocking { [self] () throws(VaultError) in .key(key.withLock { $0 }) } }
  }

  /// Waits until `condition` holds. The suite's time limit ends a wait that is in vain.
  func until(_ condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Runs a group of services as long as `body` takes, then shuts it down gracefully.
  func running(_ services: any Service..., body: () async throws -> Void) async throws {
    let group = ServiceGroup(services: services, logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
    let run = Task { try await group.run() }
    do { try await body() } catch {
      run.cancel()
      throw error
    }
    await group.triggerGracefulShutdown()
    try await run.value
  }
#endif
