import Foundation
import Testing

/// The parsers replay the inputs that fuzzing kept; `Scripts/fuzz` looks for more.
struct FuzzCorpusTests {
  private static let corpus = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../../Fuzzing/Corpus")

  @Test(arguments: FuzzTargetName.allCases)
  func `every input of the corpus is read as the format says`(name: FuzzTargetName) throws {
    let target = try name.make()
    let files = try FileManager.default.contentsOfDirectory(
      at: Self.corpus.appending(path: name.rawValue), includingPropertiesForKeys: nil)

    #expect(!files.isEmpty)
    for file in files {
      let input = [UInt8](try Data(contentsOf: file))
      do { try input.withUnsafeBytes(target.check) } catch { Issue.record("\(file.lastPathComponent): \(error)") }
    }
  }
}
