import Foundation
import Preferences
import Secrets
import SecretsTesting
import Synchronization
import Testing
import VaultCore
import VaultSealing

/// Whatever the package opens is closed in a program that the process starts, at each moment.
struct InheritedDescriptorTests {
  @Test func `no descriptor that the package opens is inherited by a child process`() async throws {
    let result = await #expect(processExitsWith: .exitCode(42), observing: [\.standardErrorContent]) {
      // What this process has got from its parent, in which other tests run, is none of the package's.
      // The numbers are those of the parent, and may be high.
      for number in STDERR_FILENO + 1..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))) where fcntl(number, F_GETFD) == 0
      {
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
      }
      let throwaway = try ThrowawayVault(withPassphrase: true)
      let folder = (throwaway.path as NSString).deletingLastPathComponent
      var options = Vault.Options()
      options.markPath = folder + "/mark"
      options.lockTimeout = .seconds(240)
      try throwaway.vault.createMark(at: folder + "/mark")
      let vault = try throwaway.reopened(options: options)
      try vault.setAuditing(.failClosed)
      let isDone = Atomic<Bool>(false)
      let rounds = Atomic<Int>(0)
      let workers = Workers()
      for work in try Work.all(vault, throwaway, in: folder) {
        workers.start {
          repeat {
            try work()
            rounds.add(1, ordering: .relaxed)
            usleep(2_000)  // so that no thread waits for the vault's lock until its time is over
          } while !isDone.load(ordering: .relaxed)
        }
      }
      // What a child has, and what each child would have that another thread starts in this moment.
      var found: Set<String> = []
      for _ in 0..<10 {
        found.formUnion(try Descriptors.inherited())
        for _ in 0..<50 { found.formUnion(Descriptors.withoutFlag()) }
      }
      isDone.store(true, ordering: .relaxed)
      do { try workers.wait() } catch { exit(44) }
      FileHandle.standardError.write(Data("inherited: \(found.sorted())".utf8))
      // The check itself sees a descriptor without the flag.
      let open = Foundation.open(throwaway.path, O_RDONLY)
      let isSeen =
        try Descriptors.inherited().contains(throwaway.path) && Descriptors.withoutFlag().contains(throwaway.path)
      close(open)
      exit(isSeen && rounds.load(ordering: .relaxed) > 0 ? 42 : 45)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("inherited: []"), "\(said)")
  }
}

private enum Descriptors {
  /// The names of what a child process has, besides its standard streams and the folder that it lists.
  static func inherited() throws -> [String] {
    let output = try TemporaryFolder()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let list = output.path + "/list"
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, list, O_WRONLY | O_CREAT, 0o600)
    let script = "for n in /proc/self/fd/*; do case ${n##*/} in 0|1|2) ;; *) readlink $n;; esac; done; :"
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    let refusal = posix_spawn(&child, "/bin/sh", &actions, nil, arguments, [nil])
    try #require(refusal == 0)
    var status: CInt = 0
    waitpid(child, &status, 0)
    try #require(status == 0)
    let text = try String(contentsOf: URL(filePath: list), encoding: .utf8)
    return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("/proc/") }
  }

  /// The names of open descriptors without the flag that closes them, besides the standard streams.
  static func withoutFlag() -> [String] {
    var names: [String] = []
    for number in STDERR_FILENO + 1..<256 where fcntl(number, F_GETFD) & ~FD_CLOEXEC == 0 {
      guard fcntl(number, F_GETFD) == 0 else { continue }
      var name = [UInt8](repeating: 0, count: 4_096)
      let count = readlink("/proc/self/fd/\(number)", &name, name.count)
      // Closed meanwhile, and perhaps opened again.
      guard count > 0, fcntl(number, F_GETFD) == 0 else { continue }
      names.append(String(decoding: name.prefix(count), as: UTF8.self))
    }
    return names.filter { !$0.hasPrefix("/proc/") }
  }
}

/// Threads that run until each has ended.
private final class Workers: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      defer { group.leave() }
      do { try body() } catch { failure.withLock { $0 = error } }
    }
  }

  func wait() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// What opens descriptors.
private enum Work {
  static func all(
    _ vault: Vault, _ throwaway: ThrowawayVault, in folder: String
  ) throws -> [@Sendable () throws -> Void] {
    let store = try SecretPreferences(service: "com.example.test", in: vault)
    let group = try vault.group()
    let number = Atomic<Int>(0)
    let json = try JSONPreferences(at: folder + "/a.json", options: .creating)
    let list = try PropertyListPreferences(at: folder + "/a.plist", options: .creating)
    let text = try DotenvPreferences(at: folder + "/a.env", options: .creating)
    let keyFile = folder + "/key.txt"
    try KeyText.write(throwaway.key).withUnsafeBytes { Data($0) }.write(to: URL(filePath: keyFile))
    chmod(keyFile, 0o600)
    return [
      {
        try store.set("value", forKey: "token")
        _ = try store.string(forKey: "token")
      },
      {
        let copy = "\(folder)/copy-\(number.add(1, ordering: .relaxed).newValue)"
        try vault.backUp(to: copy)
        _ = try Vault.open(at: copy, credential: .key(throwaway.key)).verify()
        unlink(copy)
      },
      {
        try vault.compact()
        _ = try vault.verify()
        _ = try vault.readAuditLog(of: group)
        try vault.handOverAuditLog(of: group)
      },
      { _ = try Vault.open(at: throwaway.path, credential: .passphrase(ThrowawayVault.passphrase)).status() },
      {
        let observation = store.observe { _ in }
        let watches = [try json.watch(), try list.watch(), try text.watch()]
        try json.set(1, forKey: "a")
        try list.set(1, forKey: "a")
        try text.set("1", forKey: "a")
        for watch in watches + [observation] { watch.invalidate() }
      },
      { _ = try Vault.open(at: throwaway.path, unlocking: .keyFile(keyFile)) },
    ]
  }
}
