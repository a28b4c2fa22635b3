import DurableFiles
import Synchronization
import Testing

/// Watches a file, with the number of notices so far.
private final class Watched: Sendable {
  let count = Atomic<Int>(0)
  let watch = Mutex<FileWatch<Failed>?>(nil)

  /// - Parameter work: what the watcher does after it has counted a notice.
  init(
    _ path: String, _ moment: FileMoment = .whenWhole, _ work: @escaping @Sendable (Watched) -> Void = { _ in }
  ) throws(Failed) {
    let watch = try FileWatch<Failed>(path, moment) { [self] in
      count.add(1, ordering: .relaxed)
      work(self)
    }
    self.watch.withLock { $0 = watch }
  }

  func stop() {
    watch.withLock {
      $0?.stop()
      $0 = nil
    }
  }

  /// Whether a notice arrives that was not there at the time of `before`; waits for at most ten seconds.
  func isNotified(since before: Int) -> Bool {
    for _ in 0..<2_000 {
      if count.load(ordering: .relaxed) > before { return true }
      usleep(5_000)
    }
    return false
  }

  /// Whether `change` makes a notice.
  func isNotified(of change: () throws -> Void) rethrows -> Bool {
    let before = count.load(ordering: .relaxed)
    try change()
    return isNotified(since: before)
  }
}

@Suite(.serialized) struct FileWatchTests {}

extension FileWatchTests {
  @Test func `a whole file is noticed when it is created and when it is replaced`() throws {
    try inDirectory { directory in
      let whole = WholeFile<Failed>(directory + "/file")
      let watched = try Watched(directory + "/file")
      defer { watched.stop() }
      func write(_ file: File) throws(Failed) { try file.write([1], at: 0) }

      #expect(try watched.isNotified { _ = try whole.create(write) })
      #expect(try watched.isNotified { _ = try whole.replace(write) })
    }
  }

  @Test func `a file is watched from its making to its removal`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let watched = try Watched(path)
      defer { watched.stop() }

      #expect(try watched.isNotified { try replace(path, with: "made") })
      #expect(try watched.isNotified { try File.opened(path).write([1], at: 0) })
      #expect(try watched.isNotified { try replace(path, with: "replaced") })
      #expect(watched.isNotified { unlink(path) })
    }
  }

  @Test func `other files of the folder are not reported`() throws {
    try inDirectory { directory in
      let watched = try Watched(directory + "/file")
      let other = try Watched(directory + "/other")
      defer {
        watched.stop()
        other.stop()
      }
      for _ in 0..<20 { #expect(try other.isNotified { try replace(directory + "/other", with: "other") }) }

      #expect(watched.count.load(ordering: .relaxed) == 0)
      #expect(try watched.isNotified { try replace(directory + "/file", with: "own") })
    }
  }

  @Test func `bytes that are written are reported before the file is closed, for files that are whole then`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let file = try File.opened(path)
      let watched = try Watched(path, .eachWrite)
      defer { watched.stop() }

      #expect(try watched.isNotified { try file.write([1], at: 0) })
      #expect(try watched.isNotified { try file.write([2], at: 0) })
    }
  }

  @Test func `a link is watched, and the file that it leads to, and the next one`() throws {
    try inDirectory { directory in
      try #require(mkdir(directory + "/real", 0o700) == 0)
      defer { for name in names(in: directory + "/real") { unlink("\(directory)/real/\(name)") } }
      try replace(directory + "/real/first", with: "first")
      try replace(directory + "/real/second", with: "second")
      try #require(symlink("real/first", directory + "/link") == 0)
      let watched = try Watched(directory + "/link")
      defer { watched.stop() }

      #expect(try watched.isNotified { try replace(directory + "/real/first", with: "changed") })
      try #require(symlink("real/second", directory + "/next") == 0)
      #expect(watched.isNotified { rename(directory + "/next", directory + "/link") })
      #expect(try watched.isNotified { try replace(directory + "/real/second", with: "changed") })
    }
  }

  @Test func `a folder that is not there cannot be watched`() throws {
    try inDirectory { directory in
      let path = directory + "/missing/file"
      #expect(throws: Failed(.watchDirectory, path, errno: ENOENT)) { try Watched(path) }
    }
  }

  @Test func `a watch that has been stopped releases what it calls`() throws {
    try inDirectory { directory in
      let watched = try Watched(directory + "/file")
      weak let released = watched.watch.withLock { $0 }
      watched.stop()
      for _ in 0..<2_000 where released != nil { usleep(5_000) }
      #expect(released == nil)
    }
  }

  // MARK: Several watches

  @Test func `a watch is stopped, and another one of the folder goes on`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let (stopped, other) = (try Watched(path), try Watched(path))
      defer { other.stop() }
      #expect(try stopped.isNotified { try replace(path, with: "both") })
      #expect(other.isNotified(since: 0))

      stopped.stop()
      let before = stopped.count.load(ordering: .relaxed)
      for _ in 0..<20 { try #require(try other.isNotified { try replace(path, with: "one") }) }

      #expect(stopped.count.load(ordering: .relaxed) == before)
    }
  }

  @Test func `of two watches of a folder only that of each write reports bytes before the file is closed`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let each = try Watched(path, .eachWrite)
      let whole = try Watched(path)
      defer { whole.stop() }
      do {
        let file = try File.opened(path)
        for byte in 0..<20 { try #require(try each.isNotified { try file.write([UInt8(byte)], at: 0) }) }
        #expect(whole.count.load(ordering: .relaxed) == 0)
      }
      #expect(whole.isNotified(since: 0))

      each.stop()
      #expect(try whole.isNotified { try replace(path, with: "replaced") })
    }
  }

  @Test func `a watcher that does not return delays no other one, and then learns once of what it missed`() throws {
    try inDirectory { directory in
      let (path, other) = (directory + "/file", directory + "/other")
      let (entered, released) = (Gate<Bool>(), Gate<Bool>())
      let slow = try Watched(path) { _ in
        entered.open(true)
        _ = released.wait()
      }
      let quick = try Watched(other)
      defer {
        slow.stop()
        quick.stop()
      }
      try replace(path, with: "slow")
      #expect(entered.wait())

      for _ in 0..<20 {
        try replace(path, with: "slow")
        try #require(try quick.isNotified { try replace(other, with: "quick") })
      }
      #expect(slow.count.load(ordering: .relaxed) == 1)
      released.open(true)
      #expect(slow.isNotified(since: 1))
      #expect(try quick.isNotified { try replace(other, with: "quick") })
      #expect(slow.count.load(ordering: .relaxed) == 2)
    }
  }

  @Test func `a watch can be stopped and started by what it calls`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let next = Mutex<Watched?>(nil)
      let first = try Watched(path) { watched in
        watched.stop()
        next.withLock { $0 = try? Watched(path) }
      }
      #expect(try first.isNotified { try replace(path, with: "first") })
      while next.withLock({ $0 == nil }) { usleep(1_000) }
      let second = try #require(next.withLock { $0 })
      defer { second.stop() }

      #expect(try second.isNotified { try replace(path, with: "second") })
      #expect(first.count.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `a folder that is removed and made again, and one further up, are still watched`() throws {
    try inDirectory { directory in
      let (upper, folder) = (directory + "/upper", directory + "/upper/folder")
      let path = folder + "/file"
      func make(_ text: String) throws {
        mkdir(upper, 0o700)
        mkdir(folder, 0o700)
        try replace(path, with: text)
      }
      try make("old")
      let watched = try Watched(path)
      defer { watched.stop() }

      #expect(watched.isNotified { unlink(path) })
      try #require(rmdir(folder) == 0)
      #expect(try watched.isNotified { try make("new") })
      #expect(watched.isNotified { rename(upper, directory + "/away") })
      #expect(try watched.isNotified { try make("newer") })
      for place in ["away", "upper"] {
        unlink("\(directory)/\(place)/folder/file")
        rmdir("\(directory)/\(place)/folder")
      }
    }
  }

  @Test func `a write under another name of the file, and a name that a complete file gets, are noticed`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      try replace(path, with: "old")
      try #require(mkdir(directory + "/other", 0o700) == 0)
      try #require(link(path, directory + "/other/name") == 0)
      try replace(directory + "/complete", with: "complete")
      let watched = try Watched(path)
      defer {
        watched.stop()
        unlink(directory + "/other/name")
      }

      #expect(try watched.isNotified { try File.opened(directory + "/other/name", O_RDWR).write([1], at: 0) })
      #expect(watched.isNotified { unlink(path) })
      #expect(watched.isNotified { link(directory + "/complete", path) })
    }
  }

  @Test func `a file is not reported before its writer has closed it, however slowly it is written`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let other = try Watched(directory + "/other")
      let watched = try Watched(path)
      defer {
        watched.stop()
        other.stop()
      }
      do {
        let file = try File.opened(path)
        for _ in 0..<5 { try #require(try other.isNotified { try replace(directory + "/other", with: "other") }) }
        #expect(watched.count.load(ordering: .relaxed) == 0)
        try file.write([1], at: 0)
      }
      #expect(watched.isNotified(since: 0))
    }
  }
}

#if os(Linux)
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

  /// What `body` returns in a child that this process forks, on a thread that is started there. The thread that forked
  /// has its parent's number in Swift's `Mutex`, which ends the child when another thread waits for the lock.
  private func inForkedChild(_ body: @escaping @Sendable () -> Bool) throws -> Bool {
    typealias Fork = @convention(c) () -> pid_t
    // Swift hides fork; a test of forking needs it all the same.
    let fork = unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), "fork")), to: Fork.self)
    let child = fork()
    if child == 0 {
      alarm(60)
      let result = Gate<Bool>()
      _exit(HelperThread.start { result.open(body()) } && result.wait() ? 7 : 1)
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status == 7 << 8
  }
#endif
