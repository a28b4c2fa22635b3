import Foundation
import Testing

/// Every log of the vectors verifies with exactly the findings that its manifest lists, and marks that know of logs are
/// read as strictly as the format says. `VectorTests` opens the vaults of these vectors: rows 77 and 78.
struct LogVectorTests {
  static let source = Bundle.module.resourceURL!.appending(path: "Vectors/logs")

  static func manifest() throws -> LogVectorManifest {
    let manifest = try LogVectorManifest(directory: source)
    try #require((manifest.logs?.count ?? 0) > 100)
    try #require((manifest.marks?.count ?? 0) > 15)
    return manifest
  }

  @Test(arguments: try manifest().logs ?? [])
  func `row 79: a log of the second implementation verifies as its manifest says`(_ log: LogVectorManifest.Log) throws {
    try TemporaryDirectory.with { directory in
      let found = try LogVectorRun(source: Self.source, directory: directory).verified(log)
      #expect(found.findings == log.findings)
      #expect(LogVectorRun.exit(found.findings) == log.exit)
      if let events = log.events { #expect(found.events == events) }
    }
  }

  @Test(arguments: try manifest().marks ?? [])
  func `row 80: a mark with lines of logs is read as its manifest says`(_ mark: LogVectorManifest.Mark) throws {
    try TemporaryDirectory.with { directory in
      let refusal = try LogVectorRun(source: Self.source, directory: directory).refusal(mark)
      #expect(refusal == mark.error)
    }
  }
}
