import Glibc
import Testing
import VaultSealing

/// What needs a process of its own: limits, other users and deaths.
///
/// No `#expect` inside these bodies contains a closure: with Swift 6.3.1, after `_ = call { try a() }`, the
/// closure of `#expect(call { try b() } == …)` in an exit test ran `a` again.
struct GuardedMemoryTests {
  @Test func `reading past the end ends the process`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let secret = try SecretBytes(count: 33)
      let byte = secret.withUnsafeBytes { bytes in
        bytes.baseAddress!.load(fromByteOffset: bytes.count, as: UInt8.self)
      }
      print(byte)
    }
  }

  @Test func `writing past the end ends the process`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      var secret = try SecretBytes(count: 33)
      secret.withUnsafeMutableBytes { bytes in
        bytes.baseAddress!.storeBytes(of: 1, toByteOffset: bytes.count, as: UInt8.self)
      }
    }
  }

  @Test func `bytes written before the beginning end the process at release`() async {
    await #expect(processExitsWith: .failure) {
      var secret = try SecretBytes(count: 33)
      secret.withUnsafeMutableBytes { bytes in
        let byte = bytes.baseAddress! - 1
        byte.storeBytes(of: ~byte.load(as: UInt8.self), as: UInt8.self)
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user, who has no right to lock memory"))
  func `bytes that the system does not lock are counted`() async {
    await #expect(processExitsWith: .success) {
      try lower(__RLIMIT_MEMLOCK, to: 0)
      try #require(setgid(65534) == 0)
      try #require(setuid(65534) == 0)
      let before = GuardedMemory.unlockedBlocks

      let secret = try SecretBytes(count: 32, from: .fixed(run(32)))

      #expect(secret.isLocked == false)
      #expect(secret.copy == run(32))
      #expect(GuardedMemory.unlockedBlocks == before + 1)
    }
  }

  @Test func `Argon2id without the memory it needs is refused`() async {
    await #expect(processExitsWith: .success) {
      try lower(RLIMIT_AS, to: addressSpaceInUse() + 256 << 20)

      let code = refusalOfStretching(at: PassphraseCost(passes: 1, kibibytes: 1 << 20))

      #expect(code == .kdfMemory)
    }
  }

  @Test func `after a refusal for want of memory a smaller cost is served`() async {
    await #expect(processExitsWith: .success) {
      try lower(RLIMIT_AS, to: addressSpaceInUse() + 256 << 20)

      let codes = [
        refusalOfStretching(at: PassphraseCost(passes: 1, kibibytes: 1 << 20)),
        refusalOfStretching(at: .throwaway),
      ]

      #expect(codes == [.kdfMemory, nil])
    }
  }

  @Test func `a long value without memory to open it is an error and not a refusal`() async {
    await #expect(processExitsWith: .success) {
      let sealer = try Sealer()
      let key = try SealingKey(from: .system)
      // Never touched, so it costs address space alone.
      let count = 512 << 20
      let sealed = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      try lower(RLIMIT_AS, to: addressSpaceInUse() + 256 << 20)

      let code = refusal {
        try sealer.withOpened(
          UnsafeRawBufferPointer(start: sealed, count: count), with: key, context: { _ in }
        ) { _ in }
      }

      #expect(code == .io)
    }
  }
}

private func refusalOfStretching(at cost: PassphraseCost) -> VaultError.Code? {
  refusal { try PassphraseCost.stretch(run(1).span.bytes, salt: run(16), cost: cost) }
}

private func lower(_ resource: __rlimit_resource, to limit: Int) throws {
  var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
  try #require(setrlimit(__rlimit_resource_t(resource.rawValue), &limits) == 0)
}

private func addressSpaceInUse() throws -> Int {
  let file = try #require(fopen("/proc/self/statm", "r"))
  defer { fclose(file) }
  var pages = 0
  try #require(withUnsafeMutablePointer(to: &pages) { withVaList([$0]) { vfscanf(file, "%ld", $0) } } == 1)
  return pages * sysconf(Int32(_SC_PAGESIZE))
}
