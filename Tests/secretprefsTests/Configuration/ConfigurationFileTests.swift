import Foundation
import Testing

@testable import secretprefs

/// The parser of configuration files, on files that are not made for it.
struct ConfigurationFileTests {
  private static let seeds = [
    "# settings\nvault = /srv/shop.spv\n\tservice=com.example.shop  \ngroup = ops\n",
    "history = 5\nunlock.for = 8h\nunlock.idle=30m\nclipboard.clear-after = 10\ndoctor.fail-on = advice\n",
    "vault = postgresql://u@h:5432/d?sslmode=verify-full#shop\r\n\nhistory = 99999\nhistory =\nhistory = 1\nhistory=2",
    "\u{FEFF}# from an editor of Windows\nservice == a\n",
    "vault=~/a b.spv\nservice = a = b # c\n\u{FEFF}group=x\n=\n = \nservice\nservice = \u{7}",
  ]

  /// `Scripts/references` sets the number of runs.
  @Test func `a line is a setting that can be read again, or a problem, or says nothing`() throws {
    var random = SeededRandom(7)
    var settings = 0
    var problems = 0
    for run in 0..<SeededRandom.runs {
      let bytes = random.mutated(Self.seeds)
      let isProject = run.isMultiple(of: 2)
      let file = ConfigurationFile("/p/.secretprefs", isProject: isProject, bytes)
      settings += file.lines.count
      problems += file.problems.count
      let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
      let texts = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let numbers = (file.lines.map(\.number) + file.problems.map(\.line)).sorted()
      let silent = texts.indices.filter { !numbers.contains($0 + 1) }
      let isSound =
        Set(numbers).count == numbers.count && numbers.allSatisfy { (1...texts.count).contains($0) }
        && Set(file.lines.map(\.setting)).count == file.lines.count
        && file.lines.allSatisfy { $0.setting.objection(to: $0.value, inProject: isProject) == nil }
        && file.lines.allSatisfy { isProject ? $0.setting.isForProjects : true }
        && silent.allSatisfy { index in
          let first = texts[index].first { $0 != 0x20 && $0 != 0x09 }
          return first == nil || first == UInt8(ascii: "#")
        }
      // The settings alone are a file with the same settings.
      let alone = file.lines.map { "\($0.setting.name) = \($0.value)\n" }.joined()
      let again = ConfigurationFile("/p/.secretprefs", isProject: isProject, Array(alone.utf8))
      guard isSound, again.problems.isEmpty, again.lines.map(\.value) == file.lines.map(\.value) else {
        Issue.record("\(bytes)")
        return
      }
    }
    #expect(settings > SeededRandom.runs && problems > SeededRandom.runs / 2)
  }

  /// `Scripts/references` sets the number of runs.
  @Test func `a change of one setting leaves every other line as it is`() throws {
    var random = SeededRandom(8)
    var changes = 0
    for _ in 0..<SeededRandom.runs {
      let bytes = random.mutated(Self.seeds)
      let file = ConfigurationFile("/c", isProject: false, bytes)
      guard file.problems.isEmpty else { continue }
      changes += 1
      let setting = ToolSetting.allCases.randomElement(using: &random)!
      let line = file.lines.first { $0.setting == setting }
      let new = file.changing(setting, to: setting == .vault ? "/new" : "1", in: bytes)
      var expected = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
      let text = Array("\(setting.name) = \(setting == .vault ? "/new" : "1")".utf8)
      if let line {
        expected[line.number - 1] = text
      } else {
        if expected.last == [] { expected.removeLast() }
        expected += [text, []]
      }
      let removed = ConfigurationFile("/c", isProject: false, new).changing(setting, to: nil, in: new)
      let rest = ConfigurationFile("/c", isProject: false, removed).lines.filter { $0.setting != setting }
      guard new == Array(expected.joined(separator: [UInt8(ascii: "\n")])),
        rest.map(\.value) == file.lines.filter({ $0.setting != setting }).map(\.value)
      else {
        Issue.record("\(bytes), \(setting)")
        return
      }
    }
    #expect(changes > SeededRandom.runs / 20)
  }

  @Test func `all bad lines of a file are named`() {
    let text = "x\nvault=a\nvualt = 3\nhistory = 1\r\nhistory = q\ngroup=\n\u{1}\nunlock.for = 3m\ngroup=a\ngroup=b\n"
    let file = ConfigurationFile("/p/.secretprefs", isProject: true, Array(text.utf8) + [0xFF])
    #expect(file.lines.map(\.number) == [2, 9])
    #expect(file.problems.map(\.line) == [1, 3, 4, 5, 6, 7, 8, 10, 11])
    #expect(file.problems[1].text == "/p/.secretprefs:3: there is no setting vualt; did you mean vault?")
  }

  @Test func `a byte order mark is no part of the first line, and two equals signs are no value`() {
    let file = ConfigurationFile("/c", isProject: false, Array("\u{FEFF}group = a\nservice == b\n".utf8))
    #expect(file.lines.map(\.value) == ["a"])
    #expect(file.problems.map(\.text) == ["/c:2: service has two equals signs"])
  }

  @Test func `a name that may be a secret is not repeated`() {
    let file = ConfigurationFile("/c", isProject: false, Array("\(TranscriptTests.canary) = 1\n".utf8))
    #expect(file.problems.map(\.text) == ["/c:1: there is no such setting"])
  }

  @Test(arguments: [
    "postgresql://h/d?passfile=/home/u/pass#v", "postgresql://h/d?sslkey=k#v", "postgresql://h/d?service=s#v",
    "postgresql://u:p@h/d#v", "postgresql://:p@h/d#v", "postgres://u:p%40@h/d", "~other/v.spv",
  ])
  func `a project's file names no vault with a credential`(_ vault: String) {
    #expect(ToolSetting.vault.objection(to: vault, inProject: true) != nil)
  }

  @Test func `a relative path of a vault begins at the project, and a home at the user`() {
    let vault = { (text: String) in
      ConfigurationFile("/p/q/.secretprefs", isProject: true, Array("vault = \(text)".utf8)).value(of: .vault)?.text
    }
    #expect(vault("a/b.spv") == "/p/q/a/b.spv")
    #expect(vault("../b.spv") == "/p/q/../b.spv")
    #expect(vault("/b.spv") == "/b.spv")
    #expect(vault("~/b.spv") == ProcessInfo.processInfo.environment["HOME"].map { $0 + "/b.spv" })
    #expect(vault("postgresql://h/d#v") == "postgresql://h/d#v")
  }
}
