import DurableFiles
import Testing

/// Files that get their name when they are complete, and the names that they may have.
struct WholeFileTests {
  private typealias Whole = WholeFile<Failed>

  private static func write(_ text: String, to path: String, kind: OwnFile? = nil, replaces: Bool) throws {
    let whole = Whole(path, kind: kind)
    let file =
      if replaces {
        try whole.replace { (file) throws(Failed) in try file.write(Array(text.utf8), at: 0) }
      } else {
        try whole.create { (file) throws(Failed) in try file.write(Array(text.utf8), at: 0) }
      }
    file.unlock()
  }

  private static func put(_ bytes: [UInt8], at path: String) throws { try File.opened(path).write(bytes, at: 0) }

  // MARK: Whole or not there

  @Test(arguments: [false, true])
  func `a file has no name until it is complete`(replaces: Bool) throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let before = replaces ? ["file"] : []
      if replaces { try Self.put(Array("old".utf8), at: path) }
      func prepare(_ file: File) throws(Failed) {
        #expect(names(in: directory) == before)
        try file.write(Array("new".utf8), at: 0)
        #expect(names(in: directory) == before)
      }

      let file = try replaces ? Whole(path).replace(prepare) : Whole(path).create(prepare)

      #expect(names(in: directory) == ["file"])
      #expect(try text(of: path) == "new")
      #expect(file.hasName(path))
      #expect(try !File.opened(path).tryLock())
      file.unlock()
      #expect(try File.opened(path).tryLock())
    }
  }

  @Test(arguments: [false, true])
  func `a file that cannot be completed leaves nothing`(replaces: Bool) throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let failure = Failed(.write, path, errno: ENOSPC)
      func prepare(_ file: File) throws(Failed) {
        try file.write(Array("half".utf8), at: 0)
        throw failure
      }
      if replaces { try Self.put(Array("old".utf8), at: path) }
      #expect(throws: failure) { try replaces ? Whole(path).replace(prepare) : Whole(path).create(prepare) }
      #expect(names(in: directory) == (replaces ? ["file"] : []))
      #expect(try !replaces || text(of: path) == "old")
    }
  }

  @Test(arguments: ["file", "link", "directory"])
  func `creating replaces nothing`(what: String) throws {
    try inDirectory { directory in
      let path = directory + "/it"
      switch what {
      case "file": try Self.put(Array("old".utf8), at: path)
      case "link": try #require(symlink("nowhere", path) == 0)
      default: try #require(mkdir(path, 0o700) == 0)
      }
      #expect(throws: Failed(.rename, path, errno: EEXIST)) { try Self.write("new", to: path, replaces: false) }
      #expect(names(in: directory) == ["it"])
      #expect(try what != "file" || text(of: path) == "old")
    }
  }

  @Test func `where no file can be made, the error says that it cannot be created`() throws {
    try inDirectory { directory in
      let path = directory + "/missing/file"
      #expect(throws: Failed(.create, path, errno: ENOENT)) { try Self.write("new", to: path, replaces: true) }
    }
  }

  // MARK: The package's own files

  @Test(arguments: OwnFile.allCases.filter { $0.magic != nil })
  func `a file of the package is replaced only by one of its kind`(kind: OwnFile) throws {
    try inDirectory { directory in
      let path = directory + "/file"
      let content = try #require(kind.magic) + Array("rest".utf8)
      try Self.put(content, at: path)
      try #require(symlink("file", directory + "/link") == 0)
      #expect(OwnFile.at(path) == kind)
      for name in ["file", "./file", "link"] {
        #expect(throws: Failed.self) { try Self.write("new", to: "\(directory)/\(name)", replaces: true) }
      }
      #expect(try File.opened(path).bytes(100, at: 0) == content)
      try Self.write("new", to: path, kind: kind, replaces: true)
      #expect(try text(of: path) == "new")
    }
  }

  private static let suffixes = [
    ".tmp", ".torn", ".torn.2", ".requests", ".audit-0123456789abcdef0123456789abcdef",
    ".audit-0123456789abcdef0123456789abcdef.000001", ".audit-x", ".delivered-0123456789abcdef0123456789abcdef",
  ]

  @Test(arguments: [OwnFile.vault, .mark], suffixes)
  func `a name that belongs to a vault or mark beside it is refused in every spelling`(
    kind: OwnFile, suffix: String
  ) throws {
    try inDirectory { directory in
      try Self.put(try #require(kind.magic), at: directory + "/v.spv")
      try #require(symlink(".", directory + "/folder") == 0)
      try #require(mkdir(directory + "/d", 0o700) == 0)
      for start in ["", "./", "/", "folder/", "d/../"] {
        for replaces in [false, true] {
          let path = "\(directory)/\(start)v.spv\(suffix)"
          let error = #expect(throws: Failed.self) { try Self.write("new", to: path, replaces: replaces) }
          #expect(error?.reason?.contains("a name that belongs to") == true)
        }
      }
      #expect(names(in: directory) == ["d", "folder", "v.spv"])
      #expect(OwnFile.isName("v.spv" + suffix, besides: "v.spv"))
      #expect(!OwnFile.isName("w.spv" + suffix, besides: "v.spv"))
    }
  }

  @Test(arguments: suffixes)
  func `the same name beside a file of a user is free`(suffix: String) throws {
    try inDirectory { directory in
      try Self.put(Array("a note".utf8), at: directory + "/v.spv")
      try Self.write("new", to: directory + "/v.spv" + suffix, replaces: false)
      #expect(try text(of: directory + "/v.spv" + suffix) == "new")
    }
  }

  @Test(arguments: [
    "v.spv", "v.spv.tmp2", "v.spv.torn2", "v.spv.torn.x", "v.spv.audit", "v.spv.delivered", "v.spv2.tmp", ".tmp",
  ])
  func `a similar name beside a vault is free`(name: String) throws {
    try inDirectory { directory in
      try Self.put(try #require(OwnFile.vault.magic), at: directory + "/v.spv")
      #expect(OwnFile.objection(to: "\(directory)/\(name)", writing: .vault) == nil)
    }
  }

  // MARK: Leftovers

  private static let random = "0123456789abcdef0123456789abcdef"

  /// Makes a file under the temporary name that a file with its inode has, or a different one.
  private static func leave(_ text: String, in directory: String, isOwnInode: Bool = true) throws -> String {
    let first = directory + "/new"
    try Self.put(Array(text.utf8), at: first)
    let inode = try File.opened(first).status().st_ino
    let name = ".secretprefs-\(String(isOwnInode ? inode : inode + 1, radix: 16))-\(random).part"
    try #require(rename(first, "\(directory)/\(name)") == 0)
    return name
  }

  @Test func `a leftover is certain by its inode, and is removed only then`() throws {
    try inDirectory { directory in
      let name = try Self.leave("half", in: directory)
      #expect(throws: Failed.self) { try Self.write("new", to: "\(directory)/\(name)", replaces: true) }
      let found = LeftoverFile.all(in: directory)
      #expect(found.map(\.path) == ["\(directory)/\(name)"])
      #expect(found.map(\.isCertain) == [true])
      #expect(found[0].remove())
      #expect(names(in: directory) == [])
    }
  }

  @Test(arguments: ["copy", "hard link", "symbolic link", "directory"])
  func `a file of a user with a temporary name stays`(what: String) throws {
    try inDirectory { directory in
      let path: String
      switch what {
      case "copy": path = try "\(directory)/\(Self.leave("a note", in: directory, isOwnInode: false))"
      case "hard link":
        path = try "\(directory)/\(Self.leave("a note", in: directory))"
        try #require(link(path, directory + "/other") == 0)
      default:
        path = "\(directory)/.secretprefs-1-\(Self.random).part"
        try #require(what == "directory" ? mkdir(path, 0o700) == 0 : symlink("other", path) == 0)
      }
      let found = LeftoverFile.all(in: directory)
      #expect(found.map(\.path) == [path])
      #expect(found.map(\.isCertain) == [false])
      #expect(!found[0].remove())
      #expect(names(in: directory).contains(PathName.last(of: path)))
    }
  }

  @Test func `an empty file with a temporary name is certain, and one that is being written is none`() throws {
    try inDirectory { directory in
      let name = try Self.leave("", in: directory, isOwnInode: false)
      #expect(LeftoverFile.all(in: directory).map(\.isCertain) == [true])
      let writer = try File.opened("\(directory)/\(name)")
      #expect(try writer.tryLock())
      #expect(LeftoverFile.all(in: directory).isEmpty)
    }
  }

  @Test(arguments: [
    "secretprefs-1-\(random).part", ".secretprefs-1-\(random)", ".secretprefs-\(random).part", ".x.new",
  ])
  func `other names are no temporary names`(name: String) throws {
    try inDirectory { directory in
      try Self.write("new", to: "\(directory)/\(name)", replaces: false)
      #expect(LeftoverFile.all(in: directory).isEmpty)
    }
  }
}
