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

  // MARK: Earlier values

  /// Functions of a shell: `fill` gives the key `a` the values behind its first argument, which has options, `values`
  /// lists them, newest first, and `undo` undoes the import of the file `report`.
  private static let functions = #"""
    export SECRETPREFS_KEY_FILE=k
    other='--vault other.spv --key-file other.k'
    secretprefs init --key-file k 2> made; secretprefs init $other 2> made
    fill() { options=$1; shift; for value; do printf $value | secretprefs set a $options; done; }
    values() {
      for revision in $(secretprefs history a | tr -d '*' | awk '{print $1}'); do
        secretprefs get a --revision $revision; printf ' '
      done
    }
    undo() { eval "$(sed -n 's/^"\(secretprefs history undo .*\)" undoes .*/\1/p' report) --yes" | cut -d : -f 1; }

    """#

  private static let keepsMore = "it keeps more earlier values than before, so that none is dropped\n"

  @Test(arguments: ["records", "archive"])
  func `an import over a removed key keeps its values behind those of the file, and so does its undo`(
    _ format: String
  ) throws {
    let outcome = try Tool.shell(
      Self.functions + """
        fill "$other" x1 x2 x3 x4; secretprefs export --format \(format) --to file $other
        fill '--label mine' mine1 mine2; secretprefs remove a
        secretprefs import file --format \(format) > report; values; echo
        undo; secretprefs history restore a; values; secretprefs info a | grep label
        """, in: try Scratch())
    #expect(
      outcome.text == """
        x4 x3 x2 x1 mine2 mine1\u{20}
        1 key removed, 0 restored
        the undone value is the newest of the removed key
        \(Self.keepsMore)x4 x3 x2 x1 mine2 mine1 label       mine

        """, "\(outcome.errorText)")
  }

  @Test func `an undone import leaves the earlier values alone if the value is the same`() throws {
    let outcome = try Tool.shell(
      Self.functions + """
        fill "$other" x1 x2 x3 same; secretprefs export --format records --to file $other
        fill '' o1 o2 o3 same; secretprefs import file --format records --on-conflict replace > report
        undo; values
        """, in: try Scratch())
    #expect(
      outcome.text == "0 keys removed, 0 restored, 1 with the metadata from before\n" + Self.keepsMore
        + "same x3 x2 x1 same o3 o2 o1 ", "\(outcome.errorText)")
  }

  @Test(arguments: [
    ("rotate-value a --revert", "v4 new v3 v2 "),
    ("history undo --yes | cut -d : -f 1", "0 keys removed, 1 restored\n\(keepsMore)v4 new v3 v2 v1 "),
  ])
  func `the old value of a rotation that comes back is no earlier one besides`(
    _ command: String, _ expected: String
  ) throws {
    let outcome = try Tool.shell(
      Self.functions + """
        fill '' v1 v2 v3 v4; secretprefs rotate-value a -- printf new; secretprefs \(command); values
        """, in: try Scratch())
    #expect(outcome.text == expected, "\(outcome.errorText)")
  }
}
