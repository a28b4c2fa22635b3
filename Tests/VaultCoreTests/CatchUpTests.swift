import Foundation
import Glibc
import Testing
import VaultCore

/// What other processes do to the file of a handle that is open: it is judged before it is believed.
struct CatchUpTests {
  /// What reads the file again, by name.
  static let readings: [(name: String, read: @Sendable (Vault, String) throws -> Void)] = [
    ("get", { vault, _ in _ = try vault.text("password") }),
    ("set", { vault, _ in try vault.set("new", forKey: "password") }),
    ("fold", { vault, _ in try vault.fold() }),
    ("compact", { vault, _ in try vault.compact() }),
    ("rotate", { vault, _ in try vault.rotateVault() }),
    ("add a slot", { vault, _ in try vault.addSlot(NewSlot(.key(try .sample(from: 9)))) }),
    ("verify", { vault, _ in _ = try vault.verify() }),
    ("back up", { vault, path in try vault.backUp(to: path + ".copy") }),
    ("unlock", { vault, _ in try vault.unlock(with: .key(try .sample())) }),
    ("open", { _, path in _ = try Vault.opened(at: path) }),
    ("summary", { _, path in _ = try VaultInfo(at: path) }),
    (
      "restore",
      { _, path in _ = try Vault.restore(path, to: path + ".other", credential: .key(try .sample())) }
    ),
    (
      "salvage",
      { _, path in _ = try Vault.salvage(at: path, credential: .key(try .sample()), to: path + ".saved") }
    ),
  ]

  @Test func `a file that grows to 4 TiB under a handle is refused before memory is taken for it`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      var answers: [String: VaultError.Code?] = [:]
      var afterwards: String?
      try TemporaryDirectory.with { directory in
        let path = directory + "/vault.spv"
        let vault = try Vault.sample(at: path)
        for (name, read) in CatchUpTests.readings {
          let size = try FileBytes.status(path).st_size
          // One byte behind the tail, so that there is something to take over, and 4 TiB that take no room.
          let file = open(path, O_WRONLY)
          try #require(pwrite(file, [1], 1, size - 64) == 1 && ftruncate(file, 4 << 40) == 0)
          answers[name] = refusal { try read(vault, path) }
          try #require(pwrite(file, [0], 1, size - 64) == 1 && ftruncate(file, size) == 0)
          close(file)
        }
        afterwards = try vault.text("password")
      }
      let wrong = answers.filter { $0.value != .limitExceeded }
      if !wrong.isEmpty { print("answered otherwise: \(wrong)") }
      exit(wrong.isEmpty && answers.count == CatchUpTests.readings.count && afterwards == "s3cret" ? 42 : 1)
    }
  }

  @Test func `a file that changes at random under a handle is read as it was, as it is, or refused`() throws {
    let target = try FuzzTargetName.catchup.make()
    var dice = Dice(seed: 9)
    for round in 0..<30 {
      let input = (0..<12).map { _ in UInt8.random(in: 0...255, using: &dice) }
      do { try input.withUnsafeBytes(target.check) } catch { Issue.record("round \(round), \(input): \(error)") }
    }
  }

  @Test func `a handle keeps no more of a group that was not opened than its entries`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      var grown = 0
      try SharedVault.with(reserve: 512 << 10) { shared in
        let reader = try shared.secondOwner()
        let writer = try shared.holder(of: "one", reserve: 512 << 10)
        _ = try reader.text("password")
        let before = residentBytes()
        for number in 0..<100 {
          try writer.set("\(number)", forKey: "password", in: "one")
          _ = try reader.text("password")
        }
        grown = residentBytes() - before
      }
      // 100 entries of 384 bytes; what each was read with would be 512 KiB.
      if grown > 8 << 20 { print("grown by \(grown) bytes") }
      exit(grown <= 8 << 20 ? 42 : 1)
    }
  }
}

/// The memory of this process that is in use.
private func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  return Int(text.split(separator: " ")[1])! * sysconf(Int32(_SC_PAGESIZE))
}
