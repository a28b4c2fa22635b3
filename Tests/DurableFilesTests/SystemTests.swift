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
