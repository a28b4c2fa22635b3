import DurableFiles
import Synchronization
import Testing

/// Watches a file, with the number of notices so far.
private final class Watched: Sendable {
  let count = Atomic<Int>(0)
  let watch = Mutex<FileWatch<Failed>?>(nil)

  init(_ path: String, _ moment: FileMoment = .whenWhole) throws(Failed) {
    let watch = try FileWatch<Failed>(path, moment) { [self] in count.add(1, ordering: .relaxed) }
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

@Suite(.serialized) struct FileWatchTests {
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
}
