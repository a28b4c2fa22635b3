import Foundation
import Testing

/// A row of the table of hints: see its head.
struct HintRow: CustomTestStringConvertible, Sendable {
  var hint: String
  var state: [String] = []
  var fails: String?
  var cure: [String] = []
  var works: String?
  var needs: String?
  /// The file of the test that leads to the hint.
  var shown: String?
  /// Why no test leads to the hint.
  var reason: String?

  var testDescription: String { "\(hint) | \(fails ?? shown ?? reason ?? "")" }

  /// Whether this machine has what the row needs.
  var isPossible: Bool {
    switch needs {
    case "root": geteuid() == 0
    case let program?: (try? Tool.shell("command -v \(program)", in: Scratch()).exit) == 0
    case nil: true
    }
  }

  static let all: [HintRow] = {
    let path = Bundle.module.resourcePath! + "/Transcripts/hints.table"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    var rows: [HintRow] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let word = line.prefix { $0 != " " }
      let rest = String(line.dropFirst(word.count).drop { $0 == " " })
      if word == "hint" {
        rows.append(HintRow(hint: rest))
        continue
      }
      guard let last = rows.indices.last else { continue }
      switch word {
      case "state": rows[last].state.append(rest)
      case "fails": rows[last].fails = rest
      case "cure": rows[last].cure.append(rest)
      case "works": rows[last].works = rest
      case "needs": rows[last].needs = rest
      case "shown": rows[last].shown = rest
      case "not": rows[last].reason = rest
      default: Issue.record("the table of hints has a line that begins with \(word)")
      }
    }
    return rows
  }()
}
