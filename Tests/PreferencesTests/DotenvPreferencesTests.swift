import Foundation
import Preferences
import PreferencesTestSupport
import Testing

/// One text of a dotenv file, with what it holds.
struct DotenvSample: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let text: String
  let values: [String: String]

  init(_ description: String, _ text: String, _ values: [String: String]) {
    (testDescription, self.text, self.values) = (description, text, values)
  }
}

struct DotenvPreferencesTests {
  private func values(_ text: String) throws -> [String: PreferenceValue] {
    try DotenvFormat().values(from: Array(text.utf8))
  }

  private func rewritten(_ text: String, _ change: (inout [String: PreferenceValue]) -> Void) throws -> String {
    var values = try values(text)
    change(&values)
    return String(decoding: try DotenvFormat().bytes(of: values, replacing: Array(text.utf8)), as: UTF8.self)
  }

  static let samples = [
    DotenvSample("nothing", "", [:]),
    DotenvSample("no line ending", "A=1", ["A": "1"]),
    DotenvSample("comments and empty lines", "# A=0\n\n  \t\n  # x\nA=1\n#", ["A": "1"]),
    DotenvSample("a byte order mark and CR LF", "\u{FEFF}A=1\r\n\r\nB='x'\r\n# c\r\n", ["A": "1", "B": "x"]),
    DotenvSample(
      "export", "export A=1\n\texport\tB=2\nexported=3\nexport=4", ["A": "1", "B": "2", "exported": "3", "export": "4"]),
    DotenvSample("names", "_a.b-C9=1", ["_a.b-C9": "1"]),
    DotenvSample("blanks around", "  A \t=  x y  \nB=\t", ["A": "x y", "B": ""]),
    DotenvSample("empty values", "A=\nB=''\nC=\"\"\nD= # none", ["A": "", "B": "", "C": "", "D": ""]),
    DotenvSample(
      "comments behind values", "A=x # c\nB=x#y\nC='x' # c\nD=\"#\"\t#\nE=#e",
      ["A": "x", "B": "x#y", "C": "x", "D": "#", "E": "#e"]),
    DotenvSample(
      "quotes and backslashes inside", "A=it's\nB=C:\\x\\n.\nC=a\"b\"", ["A": "it's", "B": "C:\\x\\n.", "C": "a\"b\""]),
    DotenvSample("single quotes", "A=' \\n$X \" '", ["A": " \\n$X \" "]),
    DotenvSample("double quotes", #"A="\n\r\t\"\\\$\`\x'""#, ["A": "\n\r\t\"\\$`\\x'"]),
    DotenvSample(
      "several lines", "A=\"-----\n# no comment\nB=0\r\n-----\"\nC='\n'",
      ["A": "-----\n# no comment\nB=0\n-----", "C": "\n"]),
    DotenvSample(
      "nothing is expanded", "A=$HOME\nB=\"${HOME}\"\nC=\"$(id)`id`\"\nD=x`id`",
      ["A": "$HOME", "B": "${HOME}", "C": "$(id)`id`", "D": "x`id`"]),
    DotenvSample("the last of several lines", "A=1\nB=2\nA=3", ["A": "3", "B": "2"]),
    DotenvSample("equals signs and letters of every script", "A=b=c==\nB=é🦊", ["A": "b=c==", "B": "é🦊"]),
  ]

  @Test(arguments: samples)
  func `a file is read as its syntax says`(sample: DotenvSample) throws {
    #expect(try values(sample.text) == sample.values.mapValues(PreferenceValue.string))
  }

  @Test(arguments: samples)
  func `a file without changes keeps every byte`(sample: DotenvSample) throws {
    #expect(try rewritten(sample.text) { _ in }.utf8.elementsEqual(sample.text.utf8))
  }

  @Test(arguments: [
    "A", "=1", "A 1", "1A=1", "-A=1", "Ä=1", "export A", "A: 1", "A='", "A=\"x\\\"", "A='x'y", "A='x'#y", "A=\"x\" y",
    "A=\"\"\"x\"\"\"", "A=`x`", "A=x\\", "A=x\ry", "A=x\r", "A=a\u{0}b", "A='\u{0}'", "export =1", "; A=1",
  ])
  func `what programs read differently is refused, with the number of the line`(line: String) {
    // Line feeds that are written as escapes are not lines.
    let text = "SECRET=\"\\n\\n\n\(sentinel)\"\n# \(sentinel)\n\(line)"
    let error = preferencesError { _ = try values(text) }
    #expect(error?.code == .malformed)
    #expect(error?.message.hasPrefix("line 4: ") == true)
    #expect(error?.description.contains(sentinel) == false)
  }

  @Test func `a value that is not UTF-8 is refused, and a comment is not`() throws {
    #expect(preferencesError { _ = try DotenvFormat().values(from: Array("A=".utf8) + [0xFF]) }?.code == .malformed)
    #expect(try DotenvFormat().values(from: Array("# ".utf8) + [0xFF, 0x0A] + Array("A=1".utf8)) == ["A": "1"])
  }

  @Test(arguments: [
    ("# a\nA=1 # one\nB=2\n", "# a\nB=2\n"),
    ("B=2\nA='1\n2'  \n\n# end", "B=2\n\n# end"),
    ("A=0\nB=2\r\nexport A=1", "B=2\r\n"),
    ("\u{FEFF}A=1\r\nB=2\r\n", "\u{FEFF}B=2\r\n"),
  ])
  func `a removal removes all lines of the name and keeps every other byte`(_ before: String, _ after: String) throws {
    #expect(try rewritten(before) { $0["A"] = nil }.utf8.elementsEqual(after.utf8))
  }

  @Test(arguments: [
    ("B=2\n  export A = 'x'  # c\r\n", "B=2\n  export A = new  # c\r\n"),
    ("A=0\nB=2\nA=1", "B=2\nA=new"),
    ("A= # none", "A=new # none"),
    ("A=\nB=2", "A=new\nB=2"),
    ("A=\"\"", "A=new"),
    ("B=2", "B=2\nA=new\n"),
    ("", "A=new\n"),
  ])
  func `a change keeps the rest of its line`(_ before: String, _ after: String) throws {
    #expect(try rewritten(before) { $0["A"] = "new" }.utf8.elementsEqual(after.utf8))
  }

  @Test func `what is written is read back, and a shell reads the same`() throws {
    var random = SeededGenerator(seed: 71)
    let alphabet = Array("ab09_'\"\\$`#= \t\n!~*{}()&|;<>?%é🦊")
    let texts = (0..<300).map { _ in
      String((0..<random.number(below: 12)).map { _ in alphabet[random.number(below: alphabet.count)] })
    }
    let written = Dictionary(uniqueKeysWithValues: texts.enumerated().map { ("V\($0)", PreferenceValue.string($1)) })
    let bytes = try DotenvFormat().bytes(of: written, replacing: Array("V0=\"old\"# c".utf8.dropLast(3)))
    #expect(try DotenvFormat().values(from: bytes) == written)

    try withTemporaryFolder { folder in
      try Data(bytes).write(to: URL(filePath: folder + "/env"))
      let shell = Process()
      shell.executableURL = URL(filePath: "/bin/sh")
      let print = "i=0; while [ $i -lt 300 ]; do eval \"printf '%s\\0' \\\"\\$V$i\\\"\"; i=$((i+1)); done"
      shell.arguments = ["-c", ". \(folder)/env; \(print)"]
      shell.environment = [:]
      let output = Pipe()
      shell.standardOutput = output
      try shell.run()
      let read = try #require(try output.fileHandleForReading.readToEnd())
      shell.waitUntilExit()
      #expect(read == Data(texts.flatMap { Array($0.utf8) + [0] }))
    }
  }

  @Test func `arbitrary bytes are refused, or keep their values and their bytes`() throws {
    var random = SeededGenerator(seed: 72)
    let alphabet = Array("AB=='\"\\#  \r\n\nx`$export\u{FEFF}é".utf8) + [0, 0xFF]
    var accepted = 0
    for _ in 0..<20_000 {
      let bytes = (0..<random.number(below: 16)).map { _ in alphabet[random.number(below: alphabet.count)] }
      let values: [String: PreferenceValue]
      do { values = try DotenvFormat().values(from: bytes) } catch {
        #expect(error.code == .malformed)
        continue
      }
      #expect(try DotenvFormat().bytes(of: values, replacing: bytes) == bytes)
      let changed = values.mapValues { _ in PreferenceValue.string("it's") }
      let file = try DotenvFormat().bytes(of: changed, replacing: bytes)
      #expect(try DotenvFormat().values(from: file) == changed)
      #expect(try DotenvFormat().values(from: DotenvFormat().bytes(of: [:], replacing: bytes)) == [:])
      if !values.isEmpty { accepted += 1 }
    }
    #expect(accepted > 20)
  }

  @Test func `a lookup parses the text, and other values and names are refused`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/.env"
      let store = try DotenvPreferences(at: path, options: .creating)
      try store.set(["PORT": "8080", "DEBUG": "yes", "SEED": "AQI="])
      #expect(try store.integer(forKey: "PORT") == 8080)
      #expect(try store.bool(forKey: "DEBUG") == true)
      #expect(try store.data(forKey: "SEED") == Data([1, 2]))
      #expect(try store.value(forKey: "PORT") == "8080")
      #expect(preferencesError { _ = try store.integer(forKey: "DEBUG") }?.code == .typeMismatch)

      for (value, key) in [(1, "A"), (true, "A"), ("a\u{0}b", "A"), ("x", "1A"), ("x", "A B"), ("x", "Ä")]
        as [(PreferenceValue, String)]
      {
        #expect(preferencesError { try store.set(value, forKey: key) }?.code == .unsupportedByFormat)
      }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "DEBUG=yes\nPORT=8080\nSEED=AQI=\n")
    }
  }

  @Test func `a write keeps the mode of the file and the link to it`() throws {
    try withTemporaryFolder { folder in
      try Data("A=1\nB=2\n".utf8).write(to: URL(filePath: folder + "/real"))
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder + "/real")
      try FileManager.default.createSymbolicLink(atPath: folder + "/.env", withDestinationPath: "real")
      try DotenvPreferences(at: folder + "/.env").removeValue(forKey: "A")

      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/.env") == "real")
      #expect(try String(contentsOfFile: folder + "/real", encoding: .utf8) == "B=2\n")
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/real")
      #expect(attributes[.posixPermissions] as? Int == 0o640)
    }
  }
}
