import Foundation
import Testing

struct AccessorSourceTests {
  @Test func `every setter that cannot throw has a form for changes in place`() throws {
    let root = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let folder = root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var setters = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      // Without it, the compiler reads with `get`, whose fallback after a failure it then writes back.
      for part in text.components(separatedBy: "    nonmutating set").dropFirst() {
        setters += 1
        let accessors = part.components(separatedBy: "\n  }\n")[0]
        #expect(accessors.contains("nonmutating _modify"), "\(file.lastPathComponent): \(part.prefix(80))")
      }
    }
    #expect(setters > 10)
  }
}
