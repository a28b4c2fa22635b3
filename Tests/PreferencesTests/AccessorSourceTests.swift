import Foundation
import Testing

struct AccessorSourceTests {
  @Test func `every setter that cannot throw has a form for changes in place, and reports a hidden write`() throws {
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
        let place: Comment = "\(file.lastPathComponent): \(part.prefix(80))"
        #expect(accessors.contains("nonmutating _modify"), place)
        // A keychain is one store, and nothing hides what it has.
        guard file.lastPathComponent != "Keychain.swift" else { continue }
        let setter = accessors.components(separatedBy: "nonmutating _modify")[0]
        let another = /(self|store)\[.*\] = newValue|(wrappedV|v)alue = newValue/
        #expect(setter.contains("PreferenceFailures.writing(") || setter.contains(another), place)
      }
    }
    #expect(setters > 10)
  }
}
