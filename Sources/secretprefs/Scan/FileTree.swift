internal import DurableFiles

/// The regular files below a directory, ordered by their names' bytes.
enum FileTree {
  /// A path as the system has it, which need not be UTF-8, with its NUL.
  typealias Path = [CChar]

  /// Calls `file` with each open file and its path, and `failed` with what cannot be read.
  ///
  /// - Parameters:
  ///   - followsLinks: whether symbolic links are followed. A directory inside itself is then an `ELOOP`, and what is
  ///     neither a file nor a directory an `ENOTSUP`.
  ///   - entry: called before with the path of all that is below the root, whatever it is, and with the target of a
  ///     symbolic link that is not followed.
  static func visit(
    _ root: String, followsLinks: Bool = false, file: (Int32, Path) throws -> Void, failed: (Path, Int32) -> Void,
    entry: (Path, _ target: [UInt8]?) -> Void = { _, _ in }
  ) throws {
    // If the root itself is a link, it is followed; if it is a pipe, it is read.
    try visit(
      root.utf8CString.map(\.self), isRoot: true, followsLinks ? Ancestors() : nil, file, failed, entry)
  }

  /// The directories around a file.
  private struct Ancestors {
    private var places: [(device: dev_t, number: ino_t)] = []

    func adding(_ status: stat) -> Ancestors? {
      guard !places.contains(where: { $0 == (status.st_dev, status.st_ino) }) else { return nil }
      var others = self
      others.places.append((status.st_dev, status.st_ino))
      return others
    }
  }

  /// - Parameter ancestors: `nil` if links are not followed.
  private static func visit(
    _ path: Path, isRoot: Bool, _ ancestors: Ancestors?, _ file: (Int32, Path) throws -> Void,
    _ failed: (Path, Int32) -> Void, _ entry: (Path, [UInt8]?) -> Void
  ) throws {
    var status = stat()
    let follows = isRoot || ancestors != nil
    guard (follows ? stat(path, &status) : lstat(path, &status)) == 0 else { return failed(path, errno) }
    let kind = status.st_mode & S_IFMT
    if !isRoot {
      let target = kind == S_IFLNK ? target(of: path) : nil
      guard kind != S_IFLNK || target != nil else { return failed(path, errno) }
      entry(path, target)
    }
    if kind == S_IFDIR {
      let inner = ancestors?.adding(status)
      guard ancestors == nil || inner != nil else { return failed(path, ELOOP) }
      guard let names = names(in: path) else { return failed(path, errno) }
      let start = path.dropLast() + (path.dropLast().last == slash ? [] : [slash])
      for name in names { try visit(start + name, isRoot: false, inner, file, failed, entry) }
    } else if isRoot || kind == S_IFREG {
      // The file may have been replaced by a link or a pipe since.
      let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (isRoot ? 0 : O_NONBLOCK) | (follows ? 0 : O_NOFOLLOW)
      let descriptor = retrying { open(path, flags) }
      guard descriptor >= 0 else { return failed(path, errno) }
      defer { close(descriptor) }
      guard isRoot || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else { return }
      try file(descriptor, path)
    } else if follows {
      failed(path, ENOTSUP)
    }
  }

  /// A path without its NUL.
  static func bytes(of path: Path) -> [UInt8] { path.dropLast().map { UInt8(bitPattern: $0) } }

  static func text(of path: Path) -> String { text(utf8: bytes(of: path)) }

  /// A path as text. A byte that is not UTF-8 becomes `\xFF`, which bash reads in `$'…'`.
  static func text(utf8 bytes: [UInt8]) -> String {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var text = ""
    var place = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let character):
        text.unicodeScalars.append(UTF8.decode(character))
        place += character.count
      case .error(let length):
        for byte in bytes[place..<place + length] { text += "\\x" + String(byte, radix: 16, uppercase: true) }
        place += length
      case .emptyInput: return text
      }
    }
  }

  private static let slash = CChar(UInt8(ascii: "/"))

  /// What a symbolic link has as its target; `nil`, with `errno`, if it cannot be read.
  private static func target(of link: Path) -> [UInt8]? {
    var target = Path(repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &target, target.count)
    return count < 0 ? nil : target[..<count].map { UInt8(bitPattern: $0) }
  }

  /// The sorted names in a directory; `nil`, with `errno`, if it cannot be read.
  private static func names(in directory: Path) -> [Path]? {
    guard let stream = opendir(directory) else { return nil }
    defer { closedir(stream) }
    var names: [Path] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = UnsafeRawPointer(entry).advanced(by: MemoryLayout<dirent>.offset(of: \.d_name)!)
        .assumingMemoryBound(to: CChar.self)
      let path = Path(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
      if path != [CChar](".".utf8CString), path != [CChar]("..".utf8CString) { names.append(path) }
    }
    guard errno == 0 else { return nil }
    return names.sorted { strcmp($0, $1) < 0 }
  }
}
