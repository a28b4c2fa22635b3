import Foundation
import Testing

/// Every file of the vector sets opens or is refused exactly as its manifest says.
///
/// `Scripts/vectors run DIR` runs another directory through here.
struct VectorTests {
  /// A vector, and where it is.
  struct Located: Sendable, CustomTestStringConvertible {
    let vector: VectorManifest.Vector
    let directory: URL
    let deviceKey: String?

    var testDescription: String { vector.file }
  }

  static func located() throws -> [Located] {
    let given = URL(filePath: try #require(Bundle.module.resourcePath)).appending(path: "Vectors")
    let directories =
      ProcessInfo.processInfo.environment["SECRETPREFS_VECTORS"].map { [URL(filePath: $0)] }
      ?? [given, given.appending(path: "faults"), given.appending(path: "logs")]
    return try directories.flatMap { directory in
      let manifest = try VectorManifest(directory: directory)
      try #require(!manifest.vectors.isEmpty)
      return manifest.vectors.map { Located(vector: $0, directory: directory, deviceKey: manifest.deviceKey) }
    }
  }

  @Test(arguments: try located()) func `item 124: a vector behaves as its manifest says`(_ located: Located) throws {
    let vector = located.vector
    try TemporaryDirectory.with { directory in
      let path = directory + "/" + vector.file
      try Data(contentsOf: located.directory.appending(path: vector.file)).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let run = VectorRun(path: path, deviceKey: located.deviceKey)
      report(vector.noKey, run.withoutKey(), "\(vector.file), without a key")
      for (index, attempt) in vector.open.enumerated() {
        let place = "\(vector.file), credential \(index)"
        report(attempt.expect, run.opened(by: attempt), place)
        report(attempt.refusedGroups, run.refusedGroups(by: attempt), place + ", groups by name")
      }
    }
  }

  /// Records an issue for each part that differs, and names it.
  private func report<Part: Equatable>(_ expected: Part, _ found: Part, _ place: String) {
    guard expected != found else { return }
    let named = Self.differences(expected, found, at: place)
    for difference in named { Issue.record("\(difference)") }
    if named.isEmpty { Issue.record("\(place): differs") }
  }

  private static func differences(_ expected: Any, _ found: Any, at path: String) -> [String] {
    let (left, right) = (parts(of: expected), parts(of: found))
    guard !left.isEmpty || !right.isEmpty else {
      let (expected, found) = (String(describing: expected), String(describing: found))
      return expected == found ? [] : ["\(path): expected \(expected), found \(found)"]
    }
    return Set(left.keys).union(right.keys).sorted().flatMap { name in
      switch (left[name], right[name]) {
      case (let expected?, let found?): differences(expected, found, at: path + "." + name)
      case (_?, nil): ["\(path).\(name): expected, not found"]
      default: ["\(path).\(name): found, not expected"]
      }
    }
  }

  /// The named parts of a value: properties, elements by position, members by key. Optionals are looked through.
  private static func parts(of value: Any) -> [String: Any] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { parts(of: $0.value) } ?? [:] }
    var named: [String: Any] = [:]
    for (position, child) in mirror.children.enumerated() {
      if mirror.displayStyle == .dictionary {
        let pair = Array(Mirror(reflecting: child.value).children.map(\.value))
        named["\(pair[0])"] = pair[1]
      } else {
        named[child.label ?? "\(position)"] = child.value
      }
    }
    return named
  }
}
