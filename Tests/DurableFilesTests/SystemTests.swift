import DurableFiles
import Synchronization
import Testing

struct SystemTests {
  @Test func `an error number has the system's text, and so has an unknown one`() {
    #expect(systemText(ENOENT) == "No such file or directory")
    #expect(systemText(99_999).contains("99999"))
  }

  @Test func `a call is repeated while signals interrupt it, and only then`() {
    var results: [Int32] = [-1, -1, 5]
    let interrupted = retrying { () -> Int32 in
      errno = EINTR
      return results.removeFirst()
    }
    #expect(interrupted == 5)
    let failed = retrying { () -> Int32 in
      errno = EIO
      return -1
    }
    #expect(failed == -1)
  }

  @Test func `a read waits for input, also if a process has made the descriptor non-blocking`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    defer { close(reading) }
    try #require(fcntl(reading, F_SETFL, O_NONBLOCK) == 0)
    var bytes = [UInt8](repeating: 0, count: 8)
    let early = bytes.withUnsafeMutableBytes { read(reading, $0.baseAddress, $0.count) }
    #expect(early == -1)
    HelperThread.run {
      usleep(100_000)
      _ = write(writing, "late", 4)
      close(writing)
    }
    let count = bytes.withUnsafeMutableBytes { readWaiting(reading, into: $0) }
    #expect(bytes.prefix(max(count, 0)).elementsEqual("late".utf8))
  }

  @Test func `the arguments are those of the system, after the environment has moved, too`() throws {
    setenv("SYSTEM_TESTS_MOVED", "1", 1)
    defer { unsetenv("SYSTEM_TESTS_MOVED") }
    let file = try #require(fopen("/proc/self/cmdline", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    let expected = bytes[..<count].split(separator: 0, omittingEmptySubsequences: false).dropLast()
    let arguments = launchArguments.compactMap { $0.map { String(cString: $0) } }
    #expect(arguments == expected.map { String(decoding: $0, as: UTF8.self) })
    #expect(launchArguments.baseAddress?[launchArguments.count] == nil)
  }

  @Test(arguments: [
    ("0::/system.slice/a.service\n", 8_192), ("0::/system.slice/a.service/gone\n", 8_192), ("0::/\n", 16_384),
    ("5:cpu:/\n4:memory,hugetlb:/b\n0::/\n", 4_096), ("5:cpu:/b\n", 16_384), ("", 16_384),
  ])
  func `the memory is the least limit of the control group and of those above it`(
    membership: String, kibibytes: Int
  ) throws {
    try inDirectory { directory in
      let folders = ["system.slice", "system.slice/a.service", "memory", "memory/b"].map { "\(directory)/\($0)" }
      let limits = [
        ("\(directory)/memory.max", "16777216\n"), (folders[0] + "/memory.max", "8388608\n"),
        (folders[1] + "/memory.max", "max\n"), (folders[3] + "/memory.limit_in_bytes", "4194304\n"),
      ]
      for folder in folders { #expect(mkdir(folder, 0o700) == 0) }
      for (path, text) in limits + [("\(directory)/cgroup", membership)] {
        try File.opened(path).write(Array(text.utf8), at: 0)
      }
      defer {
        for (path, _) in limits { unlink(path) }
        for folder in folders.reversed() { rmdir(folder) }
      }
      #expect(availableKibibytes(membership: "\(directory)/cgroup", groups: directory) == UInt64(kibibytes))
    }
  }

  @Test func `a helper thread runs its work, and its gate opens once it is done`() {
    let gate = Gate<Bool>()
    let caller = pthread_self()
    #expect(HelperThread.start { gate.open(pthread_equal(pthread_self(), caller) == 0) })
    #expect(gate.wait())
    let second = Gate<Int>()
    HelperThread.run { second.open(7) }
    #expect(second.wait() == 7)
  }

  @Test(arguments: [0, 1, 256, 257, 1000])
  func `random bytes fill a whole buffer`(count: Int) {
    // Bytes that stay zero in sixteen fills were not filled.
    var seen = [UInt8](repeating: 0, count: count)
    for _ in 0..<16 {
      var bytes = [UInt8](repeating: 0, count: count)
      #expect(bytes.withUnsafeMutableBytes { fillWithRandomBytes($0) })
      for index in 0..<count { seen[index] |= bytes[index] }
    }
    #expect(!seen.contains(0))
  }

  @Test func `the handler of a signal is what was set`() {
    var action = sigaction()
    #expect(action.handler == nil)
    action.handler = { _ in }
    #expect(action.handler != nil)
  }
}
