internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// All objects that the references of a git repository reach, as the installed git reads them.
struct GitHistory {
  private let repository: String
  /// The repository in errors.
  private let name: String
  private var log = LogReader()
  private var references: [ScanReport.Origin] = []

  /// Lists the objects.
  ///
  /// - Parameter name: The repository as it is shown.
  init(of repository: String, called name: String) throws {
    self.repository = repository
    self.name = name
    let listed = try output(of: ["for-each-ref", "--format=%(objectname) %(objecttype) %(refname)"])
      .split(separator: UInt8(ascii: "\n")).map { $0.split(separator: UInt8(ascii: " ")).map(Array.init) }
    guard listed.allSatisfy({ $0.count == 3 }) else { throw failure }
    references = listed.map { ScanReport.Origin(reference: $0[2]) }
    log = try commits(with: try listed.contains { $0[2] == Array(Self.stash.utf8) } ? stashes() : [])
    for line in listed { try add(line[0], line[1], at: ScanReport.Origin(reference: line[2])) }
  }

  /// Whether the history before some commits was not fetched.
  func isShallow() throws -> Bool {
    try output(of: ["rev-parse", "--is-shallow-repository"]).starts(with: "true".utf8)
  }

  /// Searches the commits, the tags and the files, and then the names of files and references.
  mutating func search(_ report: ScanReport) throws {
    var objects = log.takeObjects()
    while !objects.isEmpty {
      for (head, origin) in try search(objects, report) { try addTarget(ofTag: head, at: origin) }
      objects = log.takeObjects()
    }
    for name in log.names { report.searchName(at: name) }
    for reference in references { report.searchName(at: reference, isWhole: true) }
  }

  /// The commits and files that all references reach.
  ///
  /// - Parameter others: More commits, a line for each.
  private func commits(with others: [UInt8]) throws -> LogReader {
    let input = try Self.file(others)
    var reader = LogReader()
    try run(
      [
        "log", "--all", "--stdin", "--reverse", "--raw", "--no-abbrev", "--no-renames", "-m", "--root",
        "--no-show-signature", "--no-ext-diff", "--no-textconv", "--format=%H", "-z",
      ], input: input.raw
    ) { reader.add($0) }
    extendLifetime(input)
    guard !reader.isUnknown else { throw failure }
    return reader
  }

  /// All stashes: the reference is the newest, and its log has the others.
  private func stashes() throws -> [UInt8] { try output(of: ["rev-list", "-g", Self.stash, "--"]) }

  private static let stash = "refs/stash"

  /// Adds what a reference or a tag is about. Commits are in the log already.
  private mutating func add(_ id: [UInt8], _ kind: [UInt8], at origin: ScanReport.Origin) throws {
    switch String(decoding: kind, as: UTF8.self) {
    case "blob": log.add(GitObject(id: id, origin: origin))
    case "tag": log.add(GitObject(id: id, origin: origin, isTag: true))
    case "tree": try addFiles(ofTree: id, at: origin)
    default: break
    }
  }

  /// - Parameter head: The beginning of the tag: two lines, `object` with the id and `type`.
  private mutating func addTarget(ofTag head: [UInt8], at origin: ScanReport.Origin) throws {
    let words = head.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }
    if words.count > 3 { try add(Array(words[1]), Array(words[3]), at: origin) }
  }

  private mutating func addFiles(ofTree id: [UInt8], at origin: ScanReport.Origin) throws {
    let lines = try output(of: ["ls-tree", "-r", "-z", "--full-tree", String(decoding: id, as: UTF8.self)])
    for line in lines.split(separator: 0) {
      // "<mode> <kind> <id>", and the path after a tab.
      let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      let fields = parts[0].split(separator: UInt8(ascii: " ")).map(Array.init)
      guard parts.count == 2, fields.count == 3 else { throw failure }
      var place = origin
      place.path = Array(parts[1])
      log.addNames(at: place)
      try add(fields[2], fields[1], at: place)
    }
  }

  /// Searches objects, and returns the beginning of each tag.
  private func search(
    _ objects: [GitObject], _ report: ScanReport
  ) throws -> [(head: [UInt8], origin: ScanReport.Origin)] {
    var missing = try missing(of: objects)
    let found = objects.filter { !missing.contains($0.id) }
    let input = try Self.file(found.flatMap { $0.id + [UInt8(ascii: "\n")] })
    var reader = ObjectReader(found.count)
    var tags: [(head: [UInt8], origin: ScanReport.Origin)] = []
    var head: [UInt8] = []
    try run(["cat-file", "--batch", "--buffer"], input: input.raw) { block in
      reader.add(block) { index, contents in
        // Of a tag, only what is no part of its text.
        if found[index].isTag { head += contents.prefix(Self.headLength - head.count) }
        report.add(contents)
      } finish: { index, isMissing in
        let object = found[index]
        if isMissing { missing.insert(object.id) } else { report.finish(at: object.origin) }
        if object.isTag { tags.append((head, object.origin)) }
        head.removeAll()
      }
    }
    for object in objects where missing.contains(object.id) { report.fail(at: object.origin, ENOENT) }
    extendLifetime(input)
    guard reader.isAtEnd else { throw failure }
    return tags
  }

  /// The length of the first two lines of a tag, whose id has up to 64 digits.
  private static let headLength = "object \ntype commit\n".utf8.count + 64

  private static func file(_ content: [UInt8]) throws(VaultError) -> Descriptor<VaultError> {
    try Descriptor<VaultError>.sealed(content.bytes, named: "secretprefs") { .io("create a file in memory", $0) }
  }

  /// The ids of the objects that are not there. Git is not asked for them: in a partial clone it would try to fetch
  /// them, and it ends with an error if the program that fetches has ended first.
  private func missing(of objects: [GitObject]) throws -> Set<[UInt8]> {
    var missing = Set(objects.map(\.id))
    var line: [UInt8] = []
    try run(["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"], input: nil) { block in
      for byte in block {
        if byte != UInt8(ascii: "\n") {
          line.append(byte)
        } else {
          missing.remove(line)
          line.removeAll(keepingCapacity: true)
        }
      }
    }
    return missing
  }

  private var failure: ToolError {
    ToolError(
      VaultError(.io, "\(name): git cannot read the history"),
      hint: "\"git log --all\" in this directory may show why")
  }

  private func output(of arguments: [String]) throws -> [UInt8] {
    var output: [UInt8] = []
    try run(arguments, input: nil) { output.append(contentsOf: $0) }
    return output
  }

  /// Runs git, and calls `body` with all that it writes.
  private func run(
    _ arguments: [String], input: Int32?, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let words =
      ["git", "--no-pager", "--no-replace-objects"] + Self.settings.flatMap { ["-c", $0] } + ["-C", repository]
      + arguments
    let git = try OtherProgram(
      "git", words, adding: Self.restrictions, removing: Self.variables, input: input, isQuiet: true)
    var block = try SecretBytes(count: TextScanner.blockSize)
    while true {
      let count = block.withUnsafeMutableBytes { block in
        retrying { read(git.output, block.baseAddress, block.count) }
      }
      guard count > 0 else { break }
      try block.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    guard try git.succeeds() else { throw failure }
  }
}

extension GitHistory {
  /// The settings of the repository must neither start other programs nor hide a part of it.
  private static let settings = [
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.alternateRefsCommand=true", "core.sshCommand=false",
    "core.gitProxy=false", "core.askPass=false", "credential.helper=", "gpg.program=false", "gc.auto=0",
    "maintenance.auto=false", "diff.relative=false", "diff.orderFile=/dev/null",
    "log.diffMerges=separate", "log.showSignature=false", "core.commitGraph=false",
  ]

  /// A missing object would be fetched if the repository is a partial clone. Versions of git before 2.45 do not know
  /// the first variable; with the next, no protocol is allowed, so no helper, ssh or program of a remote is started.
  /// The last one replaces the repository's own file of grafts, which hides commits.
  private static let restrictions = [
    "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PROTOCOL_FROM_USER=0", "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0", "GIT_GRAFT_FILE=/dev/null",
  ]

  /// The variables that name a different repository, as git sets them for its hooks: those of
  /// `git rev-parse --local-env-vars` that are no settings, and those that ``restrictions`` sets.
  private static let variables: Set<String> = [
    "GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH", "GIT_OPTIONAL_LOCKS", "GIT_PROTOCOL_FROM_USER", "GIT_TERMINAL_PROMPT",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
  ]
}

/// An object of git that has a text, and where it occurs first.
private struct GitObject {
  let id: [UInt8]
  let origin: ScanReport.Origin
  var isTag = false
}

/// Parses `git log --raw -z --format=%H`: commits, and for each changed file its modes, ids and path.
private struct LogReader {
  private var objects: [GitObject] = []
  /// The paths of all files and directories, each where it occurs first.
  private(set) var names: [ScanReport.Origin] = []
  /// Whether a part was neither a commit nor a file: settings of git may change what it writes.
  private(set) var isUnknown = false
  private var known: Set<[UInt8]> = []
  private var knownNames: Set<[UInt8]> = []
  private var commit: [UInt8] = []
  /// The new id of the file whose path comes next.
  private var file: [UInt8]?
  private var part: [UInt8] = []

  /// Adds an object that is not known.
  mutating func add(_ object: GitObject) {
    if known.insert(object.id).inserted { objects.append(object) }
  }

  /// The objects that were added since the last call.
  mutating func takeObjects() -> [GitObject] {
    defer { objects = [] }
    return objects
  }

  /// Adds the path of a file, and those of the directories that it is in.
  mutating func addNames(at origin: ScanReport.Origin) {
    var origin = origin
    while let path = origin.path, knownNames.insert(path).inserted {
      names.append(origin)
      origin.path = path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[..<$0]) }
    }
  }

  mutating func add(_ block: UnsafeRawBufferPointer) {
    for byte in block {
      guard byte == 0 else {
        part.append(byte)
        continue
      }
      take(part)
      part.removeAll(keepingCapacity: true)
    }
  }

  private mutating func take(_ part: [UInt8]) {
    if let id = file {
      let origin = ScanReport.Origin(commit: commit, path: part)
      if !id.isEmpty { add(GitObject(id: id, origin: origin)) }
      addNames(at: origin)
      file = nil
    } else if let fields = Self.fields(part) {
      // A removed file has no new id, and a submodule is another repository.
      let isFile = fields[3].contains { $0 != UInt8(ascii: "0") } && !fields[1].elementsEqual("160000".utf8)
      file = isFile ? Array(fields[3]) : []
    } else {
      commit = part.filter { $0 != UInt8(ascii: "\n") }
      guard [40, 64].contains(commit.count), commit.allSatisfy(Self.isHex) else {
        isUnknown = true
        return
      }
      add(GitObject(id: commit, origin: ScanReport.Origin(commit: commit)))
    }
  }

  private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

  private static func fields(_ part: [UInt8]) -> [ArraySlice<UInt8>]? {
    let text = part.drop { $0 == UInt8(ascii: "\n") }
    let fields = text.split(separator: UInt8(ascii: " "))
    return text.first == UInt8(ascii: ":") && fields.count == 5 ? fields : nil
  }
}

/// Parses `git cat-file --batch`: for each object a line with its id, type and size, its contents and a line feed.
private struct ObjectReader {
  private let count: Int
  private var index = 0
  private var header: [UInt8] = []
  /// The number of bytes of the contents that follow, and the line feed.
  private var rest = 0

  init(_ count: Int) { self.count = count }

  var isAtEnd: Bool { index == count && rest == 0 && header.isEmpty }

  mutating func add(
    _ block: UnsafeRawBufferPointer, contents: (_ index: Int, UnsafeRawBufferPointer) -> Void,
    finish: (_ index: Int, _ isMissing: Bool) -> Void
  ) {
    var block = block[...]
    while !block.isEmpty, index < count {
      if rest > 0 {
        let taken = block.prefix(rest)
        block = block.dropFirst(taken.count)
        rest -= taken.count
        // The line feed is the last byte.
        contents(index, UnsafeRawBufferPointer(rebasing: rest == 0 ? taken.dropLast() : taken))
        if rest == 0 { end(false, finish) }
      } else if let byte = block.popFirst(), byte != UInt8(ascii: "\n") {
        header.append(byte)
      } else if let size = Int(String(decoding: header, as: UTF8.self).split(separator: " ").last ?? "") {
        rest = size + 1
        header = []
      } else {
        header = []
        end(true, finish)
      }
    }
  }

  private mutating func end(_ isMissing: Bool, _ finish: (Int, Bool) -> Void) {
    finish(index, isMissing)
    index += 1
  }
}
