import DurableFiles
import Testing

struct DescriptorTests {
  @Test func `what is written at an offset is read there, and a file that ends early gives less`() throws {
    try inDirectory { directory in
      let file = try File.opened(directory + "/file")
      try file.write(Array("after".utf8), at: 3)

      #expect(try file.bytes(10, at: 1) == [0, 0] + Array("after".utf8))
      #expect(try file.bytes(2, at: 3) == Array("af".utf8))
      try file.truncate(to: 4)
      try file.synchronize()
      try file.synchronizeData()
      #expect(try file.status().st_size == 4)
    }
  }

  @Test func `an operation that fails throws the family's error with its name, the file and errno`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      try File.opened(path).write([1], at: 0)
      let readable = try File.opened(path, O_RDONLY)
      var done = 7

      #expect(throws: Failed(.write, path, errno: EBADF)) { try readable.write([1, 2].span.bytes, at: 0, done: &done) }
      #expect(done == 7)
      #expect(throws: Failed(.truncate, path, errno: EINVAL)) { try readable.truncate(to: 0) }
      #expect(throws: Failed(.examine, "missing", errno: ENOENT)) { try File.opened("missing", O_RDONLY) }
      let named = try File.open(path, O_WRONLY, named: "the file") { Failed(.examine, path, errno: $0) }
      #expect(throws: Failed(.read, "the file", errno: EBADF)) { try named.bytes(1, at: 0) }
    }
  }

  @Test func `a file never gets the number of standard input, output or error`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      for number in STDIN_FILENO...STDERR_FILENO { close(number) }
      let file = try File.opened("/dev/null", O_RDONLY)
      let flags = fcntl(file.raw, F_GETFD)
      // A different thread of the test library may open a file meanwhile, so the number may be taken, but not by ours.
      let own = try file.status()
      var other = stat()
      let isFree = fstat(STDIN_FILENO, &other) != 0 || other.st_ino != own.st_ino
      exit(file.raw > STDERR_FILENO && flags & FD_CLOEXEC != 0 && isFree ? 42 : 1)
    }
  }

  @Test func `a descriptor is closed with its last reference`() throws {
    let (raw, inode) = try inDirectory { directory in
      let file = try File.opened(directory + "/file")
      return (file.raw, try file.status().st_ino)
    }
    // Another test may have got the number meanwhile, but not for this file, which has no name.
    var status = stat()
    #expect(fstat(raw, &status) != 0 || status.st_ino != inode || status.st_nlink > 0)
  }

  // MARK: Locks

  @Test func `a lock that another descriptor holds is not granted, and is granted when it is released`() throws {
    try inDirectory { directory in
      let (holder, waiter) = (try File.opened(directory + "/file"), try File.opened(directory + "/file"))
      #expect(try holder.tryLock())
      #expect(try !waiter.tryLock())
      let start = ContinuousClock.now
      #expect(try !waiter.lock(until: Deadline(after: .milliseconds(30))))
      #expect(ContinuousClock.now - start >= .milliseconds(30))
      #expect(try !waiter.tryLock())

      #expect(HelperThread.start { holder.unlock() })

      #expect(try waiter.lock(until: Deadline(after: .seconds(60))))
      #expect(try !holder.tryLock())
      waiter.unlock()
      try holder.lock()
      #expect(try !waiter.tryLock())
    }
  }

  // MARK: Names

  @Test func `a new file takes the name of an old one, and keeps it from being taken`() throws {
    try inDirectory { directory in
      let (path, temporary) = (directory + "/file", directory + "/file.tmp")
      try replace(path, with: "old")
      let file = try File.opened(temporary)
      try file.write(Array("new".utf8), at: 0)

      #expect(throws: Failed(.rename, path, errno: EEXIST)) { try File.rename(temporary, to: path, replaces: false) }
      #expect(try text(of: path) == "old")
      #expect(file.hasName(temporary))
      try File.rename(temporary, to: path, replaces: true)
      #expect(try text(of: path) == "new")
      #expect(file.hasName(path))
      #expect(!file.hasName(temporary))
      #expect(try File.synchronizeDirectory(directory))
      try File.rename(path, to: temporary, replaces: false)
      #expect(names(in: directory) == ["file.tmp"])
    }
  }

  @Test func `a name is discarded only while it is the file's own`() throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let old = try File.opened(path)
      #expect(try old.tryLock())
      try replace(path, with: "another program's")
      #expect(old.discard(path))
      #expect(try text(of: path) == "another program's")

      let own = try File.opened(path)
      #expect(try own.tryLock())
      #expect(own.discard(path))
      #expect(names(in: directory).isEmpty)
      #expect(own.discard(path))
    }
  }

  @Test func `a link is not the file that it leads to`() throws {
    try inDirectory { directory in
      let file = try File.opened(directory + "/file")
      try #require(symlink("file", directory + "/link") == 0)

      #expect(!file.hasName(directory + "/link"))
      #expect(PathName.resolved(directory + "/link") == PathName.resolved(directory + "/file"))
      #expect(PathName.resolved(directory + "/missing") == nil)
    }
  }

  @Test func `a directory that is not there cannot be synced`() throws {
    try inDirectory { directory in
      let missing = directory + "/missing"
      #expect(throws: Failed(.synchronizeDirectory, missing, errno: ENOENT)) { try File.synchronizeDirectory(missing) }
    }
  }

  @Test func `without a free descriptor no directory is synced, and none is made`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      let isRight = try inDirectory { directory in
        let noDescriptor = Failed(.synchronizeDirectory, directory, errno: EMFILE)
        var synced: Failed?
        var made: Failed?
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        try #require(getrlimit(files, &limit) == 0)
        let usual = limit.rlim_cur
        limit.rlim_cur = 0
        try #require(setrlimit(files, &limit) == 0)
        do throws(Failed) { _ = try File.synchronizeDirectory(directory) } catch { synced = error }
        do throws(Failed) { try File.makeDirectory(directory + "/new", isPrivate: false) } catch { made = error }
        limit.rlim_cur = usual
        try #require(setrlimit(files, &limit) == 0)
        return synced == noDescriptor && made == noDescriptor && names(in: directory) == []
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test(arguments: [
    ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b", "a", "b"), ("/a/", "/a", ""), ("", ".", ""),
  ])
  func `a path has a directory and a last part`(path: String, directory: String, last: String) {
    #expect(PathName.directory(of: path) == directory)
    #expect(PathName.last(of: path) == last)
  }
}
