internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// All objects that the references of a git repository reach, as the installed git reads them.
struct GitHistory {
  private let repository: String
  /// Each object and where it occurs first. Ids and paths are bytes, because a path need not be UTF-8.
  private var places: [(id: [UInt8], commit: [UInt8], path: [UInt8]?)] = []

  /// Lists the objects.
  init(of repository: String) throws {
    self.repository = repository
    var reader = LogReader()
    try run(
      [
        "log", "--all", "--reverse", "--raw", "--no-abbrev", "--no-renames", "-m", "--root", "--no-show-signature",
        "--no-ext-diff", "--no-textconv", "--format=%H", "-z",
      ], input: nil
    ) { reader.add($0) }
    guard !reader.isUnknown else { throw failure }
    places = reader.places
  }

  /// Searches the commits' messages and the files.
  func search(_ report: ScanReport) throws {
    var missing = try missing()
    let found = places.filter { !missing.contains($0.id) }
    let ids = found.flatMap { $0.id + [UInt8(ascii: "\n")] }
    let input = try Descriptor<VaultError>.sealed(ids.bytes, named: "secretprefs") {
      .io("create a file in memory", $0)
    }
    var reader = ObjectReader(found.count)
    try run(["cat-file", "--batch", "--buffer"], input: input.raw) { block in
      reader.add(block) {
        report.add($0)
      } finish: { index, isMissing in
        let place = found[index]
        if isMissing {
          missing.insert(place.id)
        } else {
          report.finish(
            at: ScanReport.Origin(
              commit: String(decoding: place.commit, as: UTF8.self),
              path: place.path.map { String(decoding: $0, as: UTF8.self) }))
        }
      }
    }
    for place in places where missing.contains(place.id) {
      report.fail(String(decoding: place.path ?? place.commit, as: UTF8.self), ENOENT)
    }
    extendLifetime(input)
    guard reader.isAtEnd else { throw failure }
  }

  /// The ids of the objects that are not there. Git is not asked for them: in a partial clone it would try to fetch
  /// them, and it ends with an error if the program that fetches has ended first.
  private func missing() throws -> Set<[UInt8]> {
    var missing = Set(places.map(\.id))
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
      VaultError(.io, "\(repository): git cannot read the history"),
      hint: "\"git log --all\" in this directory may show why")
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

/// Parses `git log --raw -z --format=%H`: commits, and for each changed file its modes, ids and path.
private struct LogReader {
  private(set) var places: [(id: [UInt8], commit: [UInt8], path: [UInt8]?)] = []
  /// Whether a part was neither a commit nor a file: settings of git may change what it writes.
  private(set) var isUnknown = false
  private var known: Set<[UInt8]> = []
  private var commit: [UInt8] = []
  /// The new id of the file whose path comes next.
  private var file: [UInt8]?
  private var part: [UInt8] = []

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
      if !id.isEmpty, known.insert(id).inserted { places.append((id, commit, part)) }
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
      if known.insert(commit).inserted { places.append((commit, commit, nil)) }
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
    _ block: UnsafeRawBufferPointer, contents: (UnsafeRawBufferPointer) -> Void,
    finish: (_ index: Int, _ isMissing: Bool) -> Void
  ) {
    var block = block[...]
    while !block.isEmpty, index < count {
      if rest > 0 {
        let taken = block.prefix(rest)
        block = block.dropFirst(taken.count)
        rest -= taken.count
        // The line feed is the last byte.
        contents(UnsafeRawBufferPointer(rebasing: rest == 0 ? taken.dropLast() : taken))
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
