import Foundation
import Testing

/// The parsers replay the inputs that fuzzing kept, one in a line; `Scripts/fuzz` looks for more.
struct FuzzCorpusTests {
  /// The corpora of the module under test.
  private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fuzzing/Corpus/" + #fileID.prefix { $0 != "/" }.dropLast("Tests".count))

  @Test(arguments: FuzzTargetName.allCases)
  func `every input of the corpus is read as is promised`(name: FuzzTargetName) throws {
    let target = try name.make()
    let lines = try String(contentsOf: Self.corpus.appending(path: name.rawValue + ".base64"), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast()

    #expect(!lines.isEmpty)
    for line in lines {
      let input = [UInt8](try #require(Data(base64Encoded: String(line))))
      do { try input.withUnsafeBytes(target.check) } catch { Issue.record("\(line): \(error)") }
    }
  }

  @Test func `each target has a corpus, and each corpus a target`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path(percentEncoded: false))
    #expect(names.sorted() == FuzzTargetName.allCases.map { $0.rawValue + ".base64" }.sorted())
  }
}
