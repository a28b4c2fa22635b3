import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// What a forked child can do with what its parent opened, and what it cannot.
struct ForkTests {
  @Test func `a handle used in a forked child refuses as locked`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, _ in
        let (group, service) = (try vault.group(), try Vault.Name("db"))
        let isRefused = try inForkedChild {
          let read = refusal { try vault.withValue(service: service, key: "password", in: group) { _, _ in } }
          let write = refusal { try vault.set("new", forKey: "password") }
          let list = refusal { try vault.records(in: group) }
          let status = refusal { try vault.status() }
          let log = refusal { try vault.readAuditLog(of: group) }
          let handOver = refusal { try vault.handOverAuditLog(of: group) }
          return [read, write, list, status, log, handOver].allSatisfy { $0 == .locked }
            && "\(vault.health())" == "locked"
        }
        let before = try vault.text("password")
        try vault.set("parent", forKey: "password")
        return try isRefused && before == "s3cret" && vault.text("password") == "parent"
      }
    }
  }

  @Test func `a handle is locked in a forked child, and locking it there changes nothing`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, path in
        let (group, service) = (try vault.group(), try Vault.Name("db"))
        try vault.set("kept", forKey: "kept", as: .afterFirstUnlock)
        // Its groups are not open yet.
        let unused = try Vault.opened(at: path)
        let isRight = try inForkedChild {
          vault.lock()
          unused.lock()
          let read = refusal { try vault.withValue(service: service, key: "kept", in: group) { _, _ in } }
          return vault.isLocked && unused.isLocked && read == .locked
        }
        return try isRight && !vault.isLocked && vault.text("password") == "s3cret"
      }
    }
  }

  @Test func `locking a child's copy of a handle that is in use during the fork returns`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, _ in
        let isRight = try vault.handle.loaded.withLock { _ in
          try inForkedChild {
            vault.lock()
            return vault.isLocked
          }
        }
        return isRight && !vault.isLocked
      }
    }
  }

  @Test func `a full write in a child that was forked during a full write refuses as locked`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, _ in
        let (begun, end, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let waits: VaultWriter.Rewrite = { (_) throws(VaultError) in
          begun.signal()
          end.wait()
          throw .conflict
        }
        Thread.detachNewThread {
          try? vault.rewrite(waits)
          done.signal()
        }
        try #require(begun.wait(timeout: .now() + 30) == .success)
        let isRefused = try inForkedChild {
          [refusal { try vault.compact() }, refusal { try vault.createGroup("new") }] == [.locked, .locked]
        }
        end.signal()
        try #require(done.wait(timeout: .now() + 30) == .success)
        return try isRefused && vault.text("password") == "s3cret"
      }
    }
  }

  @Test func `a vault opened in a forked child works there`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, path in
        try inForkedChild { refusal { try Vault.opened(at: path).set("child", forKey: "password") } == nil }
          && vault.text("password") == "child"
      }
    }
  }

  @Test func `a forked child has none of its parent's keys and passphrases`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, _ in
        let key = try SealingKey.sample(from: 7)
        let secrets = [Holder(secret: try SecretBytes(copying: 16)), Holder(secret: try SecretBytes(copying: 5000))]
        nonisolated(unsafe) let places =
          secrets.map { $0.secret.withUnsafeBytes { $0 } } + [key.withUnsafeBytes { $0 }]
        let isGone = try inForkedChild { places.allSatisfy { $0.allSatisfy { $0 == 0 } } }
        return withExtendedLifetime((key, secrets)) { isGone && places.allSatisfy { $0.contains { $0 != 0 } } }
      }
    }
  }

  @Test func `a credential or device key made before a fork is refused in the child`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, path in
        let (key, passphrase) = (try SealingKey.sample(), try Vault.Credential.passphrase("correct horse"))
        try vault.addSlot(NewSlot(passphrase, cost: .throwaway))
        return try inForkedChild {
          var options = Vault.Options.sample()
          options.deviceKey = key
          let codes = [
            refusal { try Vault.open(at: path, credential: .key(key)) },
            refusal { try Vault.open(at: path, credential: passphrase) },
            refusal { try Vault.create(at: path + "2", slots: [NewSlot(.key(key))]) },
            refusal { try Vault.create(at: path + "3", slots: [NewSlot(passphrase, cost: .throwaway)]) },
            refusal { try Vault.opened(at: path, options: options).setOnThisDevice() },
          ]
          return codes == [VaultError.Code?](repeating: .locked, count: 5) && access(path + "2", F_OK) != 0
        }
      }
    }
  }

  @Test func `a forked child releases its parent's keys, and makes its own`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try withVault { vault, path in
        nonisolated(unsafe) var held: [AnyObject] = [vault]
        for number in 0..<300 { held.append(try SealingKey.sample(from: UInt8(number & 255))) }
        held.append(Holder(secret: try SecretBytes(copying: 5000)))
        return try inForkedChild {
          held = []
          let text = try? Vault.opened(at: path).text("password")
          let keys = (0..<300).compactMap { try? SealingKey.sample(from: UInt8($0 & 255)) }
          return text == "s3cret" && keys.count == 300
            && keys.last?.withUnsafeBytes { $0.first == 43 } == true
        } && vault.text("password") == "s3cret"
      }
    }
  }
}

private final class Holder {
  let secret: SecretBytes
  init(secret: consuming SecretBytes) { self.secret = secret }
}

extension Vault {
  fileprivate func setOnThisDevice() throws {
    try transaction(service: Vault.Name("db"), in: group()) { batch throws(VaultError) in
      let value: [UInt8] = [1]
      try batch.set(value.span.bytes, kind: .data, forKey: "a", accessibility: .whenUnlockedThisDeviceOnly)
    }
  }
}

extension SecretBytes {
  /// So many bytes, none of them zero.
  fileprivate init(copying count: Int) throws {
    try self.init(count: count, from: RandomSource { $0.initializeMemory(as: UInt8.self, repeating: 0xA5) })
  }
}

/// Runs `body` with a vault, and ends the process: 42 when it says that all was right.
private func withVault(_ body: (_ vault: Vault, _ path: String) throws -> Bool) throws -> Never {
  var isRight = false
  try TemporaryDirectory.with { directory in
    let path = directory + "/vault.spv"
    isRight = try body(try Vault.sample(at: path), path)
  }
  exit(isRight ? 42 : 1)
}

/// What `body` returns in a child that this process forks. A child that hangs is ended and made again: a lock of
/// Swift's runtime stays held in it that another thread has at the fork.
private func inForkedChild(_ body: () -> Bool) throws -> Bool {
  typealias Fork = @convention(c) () -> pid_t
  // Swift hides fork; a test of forking needs it all the same.
  let fork = unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "fork")), to: Fork.self)
  for _ in 0..<3 {
    let child = fork()
    if child == 0 {
      // The threads of a pool block the signal.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGALRM)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      alarm(20)
      _exit(body() ? 7 : 1)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    if status & 0x7F != SIGALRM { return status == 7 << 8 }
  }
  return false
}
