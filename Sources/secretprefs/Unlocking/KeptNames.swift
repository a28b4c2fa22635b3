internal import DurableFiles

/// The names of a vault's file when its key was kept: as it was spelled, and without links.
struct KeptNames {
  /// Two paths of the longest kind, and a NUL between them.
  static let longest = 2 * Int(PATH_MAX) + 1

  private let names: [String]

  /// The names of the file at `path`, which may be gone.
  init(of path: String) {
    let absolute = PathName.absolute(path)
    let directory = PathName.resolved(PathName.directory(of: absolute)).map { $0 == "/" ? "" : $0 }
    let real = PathName.resolved(absolute) ?? directory.map { "\($0)/\(PathName.last(of: absolute))" }
    names = [absolute, real].compactMap(\.self).filter { $0.utf8.count <= Int(PATH_MAX) }
  }

  init(_ bytes: UnsafeRawBufferPointer) {
    names = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The form in which they are kept.
  var bytes: [UInt8] { Array(names.map { Array($0.utf8) }.joined(separator: [0])) }

  /// Whether the two may be names of one file.
  func areOne(with others: KeptNames) -> Bool { names.contains { name in others.names.contains(name) } }
}
