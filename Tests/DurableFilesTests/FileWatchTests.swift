import DurableFiles
import Synchronization
import Testing

/// Watches a file, with the number of notices so far.
final class Watched: Sendable {
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

  @Test func `a new file is not reported because its mode changes or its folder gets its name`() throws {
    try inDirectory { directory in
      let folder = directory + "/folder"
      try #require(mkdir(folder, 0o700) == 0)
      let watched = try Watched(folder + "/file")
      defer { watched.stop() }
      do {
        let file = try File.opened(folder + "/file")
        for _ in 0..<3 {
          usleep(400_000)
          try #require(chmod(folder + "/file", 0o600) == 0)
        }
        usleep(800_000)
        #expect(watched.count.load(ordering: .relaxed) == 0)
        try file.write([1], at: 0)
      }
      #expect(watched.isNotified(since: 0))
      #expect(watched.isNotified { rename(folder, directory + "/away") })

      let before = watched.count.load(ordering: .relaxed)
      let file = try File.opened(directory + "/away/file")
      try #require(rename(directory + "/away", folder) == 0)
      for byte in 1..<40 {
        usleep(20_000)
        try file.write([UInt8(byte)], at: byte)
      }
      #expect(watched.count.load(ordering: .relaxed) == before)
    }
  }
}
