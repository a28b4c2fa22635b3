import Foundation
import Testing

/// Each hint of the tool fits the state that leads to it: what it says is done, and the command works.
struct HintTests {
  static let prelude = """
    export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k SECRETPREFS_SERVICE=s
    secretprefs init --key-file k && printf v | secretprefs set tok || exit 90
    """

  @Test(arguments: HintRow.all.filter { $0.fails != nil })
  func `a hint fits its state, and after its cure the command works`(row: HintRow) throws {
    guard row.isPossible, let fails = row.fails else { return }
    let home = try Scratch()
    try home.write(row.hint.replacing("{home}", with: home.path), to: "hint")
    try home.write(
      """
      \(Self.prelude)
      set -e
      \(row.state.joined(separator: "\n"))
      set +e
      ( \(fails)
      ) > out 2> err < /dev/null && exit 91
      grep -qxF "secretprefs: hint: $(cat hint)" err || { cat err >&2; exit 92; }
      set -e
      \(row.cure.joined(separator: "\n"))
      set +e
      ( \(row.works ?? fails)
      ) > out 2> err < /dev/null || { cat err >&2; exit 93; }
      """, to: "script")
    let outcome = try Tool.shell("sh script", in: home)
    #expect(outcome.exit == 0, "90: no vault, 91: no error, 92: no such hint, 93: no cure\n\(outcome.errorText)")
  }

  @Test func `every hint of the sources has a row, which says where it is shown if it has no state`() throws {
    let texts = try HintSources().texts
    #expect(texts.count > 120)
    let rows = HintRow.all
    for text in texts.sorted() {
      #expect(rows.contains { $0.hint.contains(text) }, "a hint without a row: \(text)")
    }
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    for row in rows where row.fails == nil {
      guard let shown = row.shown else {
        #expect(row.reason?.isEmpty == false, "\(row.hint)")
        continue
      }
      let test = try String(contentsOf: folder.appending(path: shown), encoding: .utf8)
      #expect(test.contains(row.hint), "\(shown) does not lead to: \(row.hint)")
    }
  }
}
