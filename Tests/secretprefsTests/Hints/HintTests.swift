import Foundation
import Testing

@testable import secretprefs

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

  /// A command in a text: the options that it takes, and whether it names the vault.
  typealias Command = (name: String, options: Set<String>, namesVault: Bool)

  /// The commands in a text that are no usage lines.
  private static func commands(in text: String) -> [Command] {
    text.ranges(of: "secretprefs ").compactMap { place -> Command? in
      let rest = text[place.upperBound...]
      let own = rest.prefix { $0 != "\"" && $0 != ";" }
      guard !own.contains("[<options>]"), let command = UsageRefusal.command(atStartOf: rest) else { return nil }
      return (command.name, Set(command.options.keys), own.contains(" --vault "))
    }
  }

  /// Whether a row is about a command that opens a vault, and its hint names one that does.
  private static func mayNameVault(_ row: HintRow) -> Bool {
    guard commands(in: row.hint).contains(where: { $0.options.contains("--vault") && !$0.namesVault }) else {
      return false
    }
    let failing = commands(in: row.fails ?? "")
    return !failing.isEmpty && failing.allSatisfy { $0.options.contains("--vault") }
  }

  /// A program that is the tool with `--vault v.spv` behind its arguments, unless they name a vault.
  private static let naming = """
    #!/bin/sh
    unset SECRETPREFS_VAULT
    count=$#; isNamed=
    while [ $count -gt 0 ]; do
      case "$isNamed$1" in
        --vault | --vault=*) isNamed=yes ;;
        --) set -- "$@" --vault v.spv; isNamed=yes ;;
      esac
      set -- "$@" "$1"; shift; count=$((count - 1))
    done
    [ "$isNamed" ] || set -- "$@" --vault v.spv
    exec \(Tool.path) "$@"
    """

  /// One row for each list of commands that a hint names: messages get the names of vaults in one place.
  private static var namingRows: [HintRow] {
    var named: Set<[String]> = []
    return HintRow.all.filter { mayNameVault($0) && named.insert(commands(in: $0.hint).map(\.name)).inserted }
  }

  @Test(arguments: namingRows)
  func `a hint names the vault that an option named, in each command that opens one`(row: HintRow) throws {
    guard row.isPossible, let fails = row.fails else { return }
    let home = try Scratch()
    try home.write(Self.naming, to: "naming")
    try home.write(
      """
      \(Self.prelude)
      set -e
      mkdir bin; mv naming bin/secretprefs; chmod 700 bin/secretprefs
      \(row.state.joined(separator: "\n"))
      set +e
      PATH=$PWD/bin:$PATH
      ( \(fails)
      ) 2> err > out < /dev/null && exit 91
      sed -n 's/^secretprefs: hint: //p' err
      """, to: "script")
    let outcome = try Tool.shell("sh script", in: home)
    let commands = Self.commands(in: outcome.text).filter { $0.options.contains("--vault") }
    #expect(!commands.isEmpty && commands.allSatisfy(\.namesVault), "\(outcome.text)\(outcome.errorText)")
  }

  @Test func `a hint names options of the command that fails, or of one that it names itself`() {
    for row in HintRow.all {
      let options = Self.options(in: row.hint)
      guard let fails = row.fails, !options.isEmpty else { continue }
      let known = [fails, row.hint].flatMap(Self.commands).reduce(Set(["--help"])) { $0.union($1.options) }
      for option in options {
        // Such as "the --keep options".
        #expect(known.contains { $0 == option || $0.hasPrefix("\(option)-") }, "\(option): \(row.hint): \(fails)")
      }
    }
  }

  /// The options in a hint, without those in commands of other programs, which are in quotes.
  private static func options(in hint: String) -> [Substring] {
    let parts = hint.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    let own = parts.filter { $0.offset.isMultiple(of: 2) || $0.element.hasPrefix("secretprefs ") }.map(\.element)
    return own.flatMap { $0.split(whereSeparator: { " ;:,?()'".contains($0) }) }
      .filter { $0.hasPrefix("--") && $0.count > 2 }
  }

  @Test func `a command that opens a vault has the options that hints about vaults name`() {
    let named: Set = [
      "--vault", "--shared", "--logs", "--lock-timeout", "--key-file", "--passphrase-fd", "--passphrase-command",
      "--identity", "--trust", "--device-key-file", "--mark",
    ]
    let commands = HintRow.all.compactMap(\.fails).flatMap(Self.commands)
      .filter { $0.options.isSuperset(of: ["--vault", "--identity", "--no-prompt"]) }
    #expect(commands.contains { $0.name == "settings" })
    for command in commands { #expect(named.isSubset(of: command.options), "\(command.name)") }
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
      // It may name a vault, which the row does not.
      let unnamed = test.replacing(#/ --vault '[^']*'/#, with: "")
      #expect(test.contains(row.hint) || unnamed.contains(row.hint), "\(shown) does not lead to: \(row.hint)")
    }
  }
}
