import Foundation

/// Stands in for the C library's: nobody writes to these files, so a reader that finds one damaged looks again at once.
@_cdecl("usleep") func lookAgainAtOnce(_: UInt32) -> Int32 { 0 }

/// Runs directories of vectors, and stops at the first file that the reader does not answer as its manifest says.
@main struct Main {
  static func main() throws {
    for directory in CommandLine.arguments.dropFirst() {
      let manifest = try VectorManifest(directory: URL(filePath: directory))
      for vector in manifest.vectors {
        let run = VectorRun(path: directory + "/" + vector.file, deviceKey: manifest.deviceKey)
        guard run.withoutKey() == vector.noKey else { noticed(vector) }
        for attempt in vector.open {
          guard run.opened(by: attempt) == attempt.expect,
            run.refusedGroups(by: attempt) == attempt.refusedGroups
          else { noticed(vector) }
        }
      }
    }
  }

  private static func noticed(_ vector: VectorManifest.Vector) -> Never {
    print(vector.file)
    exit(1)
  }
}
