import Foundation
import Testing
import VaultCore

/// Every file of a vector directory opens or is refused exactly as its manifest says.
///
/// `Scripts/vectors DIR` runs another directory through here.
@Suite struct VectorTests {
  static let directory: URL =
    ProcessInfo.processInfo.environment["SECRETPREFS_VECTORS"].map { URL(filePath: $0) }
    ?? URL(filePath: Bundle.module.resourcePath!).appending(path: "Vectors")

  @Test func `every vector behaves as its manifest says`() throws {
    let manifest = try VectorManifest(directory: Self.directory)
    #expect(!manifest.vectors.isEmpty)
    for vector in manifest.vectors {
      try TemporaryDirectory.with { directory in
        let path = directory + "/" + vector.file
        try Data(contentsOf: Self.directory.appending(path: vector.file)).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let run = VectorRun(path: path, deviceKey: manifest.deviceKey)
        report(vector.noKey, run.withoutKey(), "\(vector.file), without a key")
        for (index, attempt) in vector.open.enumerated() {
          report(attempt.expect, run.opened(with: attempt.credential), "\(vector.file), credential \(index)")
        }
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
