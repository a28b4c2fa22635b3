import Foundation
import Testing

extension UndoTests {
  /// Each is one write of the key `K`. `N` is a new name, which the key then has.
  private static let steps = [
    "printf one | secretprefs set K", "printf two | secretprefs set K --label two", "secretprefs edit K --label x",
    "secretprefs edit K --expiry 90d --history 5", "secretprefs remove K", "secretprefs rename K N",
    "secretprefs move --to-service other K", "secretprefs history restore K",
    "secretprefs rotate-value K -- printf new",
  ]

  /// What a pair of steps leaves after both were undone as one.
  private static func outcome(of first: String, _ second: String) throws -> String {
    let home = try Scratch()
    let moved = first.contains("--to-service") ? " --service other" : ""
    let name = first.contains(" N") ? "new" : "key"
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      state() {
        secretprefs export --format records --all-services \\
          | sed 's/"revision":[0-9]*,//; s/"modified":"[^"]*",//; s/"created":"[^"]*",//' \\
          | sed 's/"historyDepth":[0-9]*,//; s/,"previous":.*//'
      }
      secretprefs init --key-file k 2>/dev/null
      printf zero | secretprefs set key --label zero --expiry 2040-01-01
      state > before
      { \(first.replacing("K", with: "key").replacing("N", with: "new")); } > said 2>&1 || exit 5
      { \(second.replacing("K", with: name).replacing("N", with: "newer") + moved); } > said 2>&1 || exit 5
      secretprefs history undo 3-4 --yes > undone 2>&1
      state > after
      cmp -s before after && echo undone || cat undone
      """, in: home)
    return outcome.exit == 5 ? "not possible" : outcome.text
  }

  @Test(arguments: steps.filter { !$0.contains("restore") })
  func `two writes of one key are undone as one, however its value went`(_ first: String) throws {
    var possible = 0
    for second in Self.steps {
      let outcome = try Self.outcome(of: first, second)
      if outcome == "not possible" { continue }
      possible += 1
      #expect(outcome == "undone\n", "\(second)")
    }
    #expect(possible >= (first.contains("remove") ? 3 : 6))
  }
}
