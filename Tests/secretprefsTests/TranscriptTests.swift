import Foundation
import Testing

struct TranscriptTests {
  /// The secret of the transcripts, which no output may contain.
  static let canary = "CANARY-7f3a"

  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

  static let stories: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: Bundle.module.resourcePath! + "/Transcripts")) ?? [])
    .filter { $0.hasSuffix(".txt") }.sorted()

  @Test func `there are transcripts`() { #expect(Self.stories.contains("unsafe-files.txt")) }

  @Test(arguments: stories.filter { !([Keyring.story] + DatabaseServer.stories).contains($0) })
  func `a transcript matches its recording`(_ story: String) throws { try Self.replay(story) }

  @Test(Keyring.isNeeded) func `the transcript that needs a keyring matches its recording`() throws {
    try Self.replay(Keyring.story)
  }

  @Test(DatabaseServer.isNeeded, arguments: DatabaseServer.stories)
  func `a transcript about databases matches its recording`(_ story: String) throws { try Self.replay(story) }

  private static func replay(_ story: String) throws {
    let file = URL(filePath: Bundle.module.resourcePath! + "/Transcripts/" + story)
    let written = try String(contentsOf: file, encoding: .utf8)
    let transcript = try Transcript(written)
    if ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil {
      try Data(transcript.replayed.utf8).write(to: Self.folder.appending(path: story))
    } else {
      let (before, now) = (Self.lines(written), Self.lines(transcript.replayed))
      for change in now.difference(from: before) {
        switch change {
        case .remove(let offset, let line, _): Issue.record("\(story), line \(offset + 1) is gone: \(line)")
        case .insert(let offset, let line, _): Issue.record("\(story), line \(offset + 1) is new: \(line)")
        }
      }
    }
    #expect(!transcript.diagnostics.contains(Self.canary))
  }

  @Test func `there are stories`() { #expect(Self.stories.count >= 15) }

  /// Blank lines are for the eye.
  private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }
}
