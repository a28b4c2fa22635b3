import DurableFiles
import Synchronization
import Testing

/// The inotify instance of a process. Each test has a process for itself.
struct InotifyTests {
  @Test func `two hundred watches have one instance and one thread`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let first = try Watched(directory + "/first")
        guard try first.isNotified(of: { try replace(directory + "/first", with: "text") }) else { return false }
        let threads = names(in: "/proc/self/task").count
        let all = try (0..<199).map { number in
          let folder = "\(directory)/\(number)"
          try #require(mkdir(folder, 0o700) == 0)
          return (folder + "/file", try Watched(folder + "/file"))
        }
        // Threads of the test library may start at any time.
        guard instances().count == 1, folders() >= 200, names(in: "/proc/self/task").count < threads + 50 else {
          return false
        }
        for (path, watched) in all {
          guard try watched.isNotified(of: { try replace(path, with: "text") }) else { return false }
          watched.stop()
          unlink(path)
        }
        first.stop()
        return instances().count == 1 && folders() == 0
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `an event costs nothing for the watches of other files in its folder`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let most = Atomic<Int>(0)
        let all = try (0..<1_000).map { number in
          try Watched("\(directory)/\(number)") { _ in
            most.store(max(most.load(ordering: .relaxed), names(in: "/proc/self/task").count), ordering: .relaxed)
          }
        }
        let before = names(in: "/proc/self/task").count
        for _ in 0..<20 {
          guard try all[7].isNotified(of: { try replace(directory + "/7", with: "text") }) else { return false }
        }
        for watched in all { watched.stop() }
        // Threads of the test library may start at any time.
        return most.load(ordering: .relaxed) < before + 50
          && all.enumerated().allSatisfy { $0 == 7 || $1.count.load(ordering: .relaxed) == 0 }
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `watchers of one file share a few threads, and more if they wait for each other`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let path = directory + "/file"
        let most = Atomic<Int>(0)
        let quick = try (0..<500).map { _ in
          try Watched(path) { _ in
            most.store(max(most.load(ordering: .relaxed), names(in: "/proc/self/task").count), ordering: .relaxed)
          }
        }
        let before = names(in: "/proc/self/task").count
        try replace(path, with: "one")
        guard quick.allSatisfy({ $0.isNotified(since: 0) }) else { return false }
        for watched in quick { watched.stop() }
        guard most.load(ordering: .relaxed) < before + 50 else { return false }

        let arrived = Atomic<Int>(0)
        let waiting = try (0..<40).map { _ in
          try Watched(path) { _ in
            arrived.add(1, ordering: .relaxed)
            // Each returns when all have been called.
            while arrived.load(ordering: .relaxed) < 40 { usleep(1_000) }
          }
        }
        defer { for watched in waiting { watched.stop() } }
        try replace(path, with: "two")
        return waiting.allSatisfy { $0.isNotified(since: 0) }
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `what the system does not report is looked at`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        for folder in ["one", "two"] {
          try #require(mkdir("\(directory)/\(folder)", 0o700) == 0)
          try replace("\(directory)/\(folder)/file", with: folder)
        }
        defer { for folder in ["one", "two"] { unlink("\(directory)/\(folder)/file") } }
        try #require(chdir(directory + "/one") == 0)
        // No event says where this link leads.
        let watched = try Watched("/proc/self/cwd/file")
        defer { watched.stop() }
        guard watched.isNotified(of: { chdir("../two") }) else { return false }
        let isNotified = try watched.isNotified { try replace(directory + "/two/file", with: "changed") }
        chdir("/")
        return isNotified
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `a folder is watched as long as a watch needs it`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        for number in 0..<3 {
          try #require(mkdir("\(directory)/\(number)", 0o700) == 0)
          try replace("\(directory)/\(number)/file", with: "text")
        }
        defer { for number in 0..<3 { unlink("\(directory)/\(number)/file") } }
        try #require(symlink("0/file", directory + "/link") == 0)
        let link = try Watched(directory + "/link")
        // The folders above, this one, that of the file, and the file.
        let first = folders()
        var counts = [0]
        let target = try Watched(directory + "/0/file")
        counts.append(folders() - first)
        for number in 1..<3 {
          try #require(symlink("\(number)/file", directory + "/next") == 0)
          guard link.isNotified(of: { rename(directory + "/next", directory + "/link") }) else { return false }
          counts.append(folders() - first)
        }
        guard try target.isNotified(of: { try replace(directory + "/0/file", with: "changed") }) else { return false }
        target.stop()
        counts.append(folders() - first)
        link.stop()
        // The second link leads to a folder and a file of its own.
        return counts == [0, 0, 2, 2, 0] && folders() == 0
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `a forked child leaves its parent's watches alone, and has its own`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let path = directory + "/file"
        let watched = try Watched(path)
        let isRightInChild = try inForkedChild {
          guard let own = try? Watched(path) else { return false }
          let isNotified = (try? own.isNotified { try replace(path, with: "child") }) == true
          own.stop()
          watched.stop()
          return isNotified && watched.count.load(ordering: .relaxed) == 0
        }
        guard isRightInChild, watched.isNotified(since: 0) else { return false }
        return try watched.isNotified { try replace(path, with: "parent") }
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test func `events that the system dropped are changes of every file`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let path = directory + "/file"
        try replace(path, with: "old")
        let watched = try Watched(path)
        defer { watched.stop() }
        let text = try text(of: "/proc/sys/fs/inotify/max_queued_events").split(separator: "\n")[0]
        let limit = try #require(Int(text))
        let (process, others) = (getpid(), ["/a", "/b"].map { directory + $0 })
        let isDone = try inForkedChild {
          kill(process, SIGSTOP)
          // Two in turn, because equal events are merged.
          for number in 0..<2 * limit { close(open(others[number % 2], O_WRONLY | O_CREAT, 0o600)) }
          let isDone = (try? replace(path, with: "new")) != nil
          kill(process, SIGCONT)
          return isDone
        }
        return isDone && watched.isNotified(since: 0)
      }
      exit(isRight ? 42 : 1)
    }
  }
}

/// The descriptors of the process's inotify instances.
private func instances() -> [String] {
  names(in: "/proc/self/fd").filter { name in
    var link = [UInt8](repeating: 0, count: 100)
    let count = link.withUnsafeMutableBytes {
      readlink("/proc/self/fd/\(name)", $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
    }
    return count > 0 && String(decoding: link[..<count], as: UTF8.self) == "anon_inode:inotify"
  }
}

/// The number of folders that the process's inotify instances watch.
private func folders() -> Int {
  instances().reduce(0) { sum, name in
    let file = try? File.opened("/proc/self/fdinfo/\(name)", O_RDONLY)
    let text = String(decoding: (try? file?.bytes(100_000, at: 0)) ?? [], as: UTF8.self)
    return sum + text.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
  }
}

/// Lets the alarm end this process in a minute. The threads of a pool block its signal.
private func endAfterAMinute() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGALRM)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  alarm(60)
}

/// What `body` returns in a child that this process forks, on a thread that is started there. The thread that forked
/// has its parent's number in Swift's `Mutex`, which ends the child when another thread waits for the lock.
private func inForkedChild(_ body: @escaping @Sendable () -> Bool) throws -> Bool {
  typealias Fork = @convention(c) () -> pid_t
  // Swift hides fork; a test of forking needs it all the same.
  let fork = unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "fork")), to: Fork.self)
  // Made before: in the child, a lock of Swift's runtime stays held that another thread has at the fork.
  let result = Gate<Bool>()
  let child = fork()
  if child == 0 {
    endAfterAMinute()
    _exit(HelperThread.start { result.open(body()) } && result.wait() ? 7 : 1)
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  return status == 7 << 8
}
