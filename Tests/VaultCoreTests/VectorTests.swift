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
        #expect(run.withoutKey() == vector.noKey, "\(vector.file), without a key")
        for (index, attempt) in vector.open.enumerated() {
          #expect(run.opened(with: attempt.credential) == attempt.expect, "\(vector.file), credential \(index)")
        }
      }
    }
  }
}
