internal import DurableFiles

/// The names of a vault's place when its key was kept: of a file as it was spelled, and without links.
struct KeptNames {
  /// Two paths of the longest kind, and a NUL between them.
  static let longest = 2 * Int(PATH_MAX) + 1

  private let names: [String]

  /// The names of a place, where the vault may be gone.
  init(of place: VaultLocation) {
    names = (place.path.map(Self.names) ?? [place.name]).filter { $0.utf8.count <= Int(PATH_MAX) }
  }

  private static func names(of path: String) -> [String] {
    let absolute = PathName.absolute(path)
    let directory = PathName.resolved(PathName.directory(of: absolute)).map { $0 == "/" ? "" : $0 }
    let real = PathName.resolved(absolute) ?? directory.map { "\($0)/\(PathName.last(of: absolute))" }
    return [absolute, real].compactMap(\.self)
  }

  init(_ bytes: UnsafeRawBufferPointer) {
    names = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The form in which they are kept.
  var bytes: [UInt8] { Array(names.map { Array($0.utf8) }.joined(separator: [0])) }

  /// Whether the two may be names of one place.
  func areOne(with others: KeptNames) -> Bool { names.contains { name in others.names.contains(name) } }
}
