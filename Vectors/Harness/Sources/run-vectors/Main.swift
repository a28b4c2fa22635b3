import Foundation

/// Stands in for the C library's: nobody writes to these files, so a reader that finds one damaged looks again at once.
@_cdecl("usleep") func lookAgainAtOnce(_: UInt32) -> Int32 { 0 }

/// Runs directories of vectors, and stops at the first file that the reader does not answer as its manifest says. Of
/// logs, all that differ are named.
@main struct Main {
  static func main() throws {
    var areLogsRight = true
    for directory in CommandLine.arguments.dropFirst() {
      let source = URL(filePath: directory)
      let manifest = try VectorManifest(directory: source)
      for vector in manifest.vectors {
        let run = VectorRun(path: directory + "/" + vector.file, deviceKey: manifest.deviceKey)
        guard run.withoutKey() == vector.noKey else { noticed(vector) }
        for attempt in vector.open {
          guard run.opened(by: attempt) == attempt.expect,
            run.refusedGroups(by: attempt) == attempt.refusedGroups
          else { noticed(vector) }
        }
      }
      for text in try HolderTexts(directory: source).texts where text.found != text.error {
        print("\(text.form) \(text.name)")
        exit(1)
      }
      for log in try LogVectorManifest(directory: source).logs ?? [] {
        areLogsRight = try isRight(log, in: source) && areLogsRight
      }
      for mark in try LogVectorManifest(directory: source).marks ?? [] {
        areLogsRight = try isRight(mark, in: source) && areLogsRight
      }
    }
    if !areLogsRight { exit(1) }
  }

  private static func isRight(_ log: LogVectorManifest.Log, in source: URL) throws -> Bool {
    try withDirectory { directory in
      let found: String
      do {
        let verified = try LogVectorRun(source: source, directory: directory).verified(log)
        if verified.findings == log.findings { return true }
        found = "\(verified.findings)"
      } catch { found = "\(error)" }
      print("\(log.name)\n  expected \(log.findings)\n  found    \(found)")
      return false
    }
  }

  private static func isRight(_ mark: LogVectorManifest.Mark, in source: URL) throws -> Bool {
    try withDirectory { directory in
      let found = try LogVectorRun(source: source, directory: directory).refusal(mark)
      if found != mark.error {
        print("mark \(mark.name)\n  expected \(mark.error ?? "nothing")\n  found    \(found ?? "nothing")")
      }
      return found == mark.error
    }
  }

  private static func withDirectory<R>(_ body: (String) throws -> R) throws -> R {
    let directory = FileManager.default.temporaryDirectory.appending(path: "run-vectors-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { print(error) }
    }
    return try body(directory)
  }

  private static func noticed(_ vector: VectorManifest.Vector) -> Never {
    print(vector.file)
    exit(1)
  }
}
