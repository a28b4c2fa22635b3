import Foundation
import Testing

/// Options that would have no effect, or another one than the help says, are refused.
struct OptionEffectTests {
  @Test(
    arguments: [
      "init --vault new.spv --key-file new", "slots add --new-key-file new", "slots replace 5f0c9a --new-key-file new",
      "bundle export --all --to b.spv --new-key-file new", "slots add --public-key -",
    ], ["--accept-weak", "--throwaway-cost"])
  func `what is about a passphrase is refused without one`(_ command: String, _ flag: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      "export SECRETPREFS_KEY_FILE=k; secretprefs \(command) \(flag); code=$?; ls; exit $code", in: home)
    #expect(outcome.exit == 64)
    #expect(outcome.errorText == "secretprefs: error: \(flag) has no effect without a new passphrase\n")
    #expect(outcome.text == "k\n")
  }

  @Test func `a line feed after a value is refused with JSON`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.run(["get", "token", "--newline", "--json", "--key-file", "k"], in: home)
    #expect(outcome.exit == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText.contains("--json and --newline cannot be used together"))
  }

  @Test(arguments: ["SECRETPREFS_KEY_FILE=k secretprefs list", "secretprefs list --key-file k", "secretprefs list"])
  func `a pin without an identity is a usage error, wherever the key is named`(_ line: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell("pin=$(secretprefs slots pin --key-file k); \(line) --trust $pin", in: home)
    #expect(outcome.exit == 64)
    #expect(
      outcome.errorText
        == "secretprefs: error: --trust is for an identity\nsecretprefs: hint: name its file with --identity\n")
  }

  @Test(
    arguments: [
      ("pw=CANARY-7f3a", false), ("secret://default/pw=CANARY-7f3a", false), ("SECRET:/default/pw=CANARY-7f3a", false),
      ("a?b=CANARY-7f3a", false), ("-- secret://default/a=b", true), ("secret://default/a%3Db", true),
      ("'secret://default/ab?group=default'", true), ("-- a=b", true),
    ])
  func `an equals sign in a key is refused, also in a reference, unless it is meant`(
    _ key: String, _ isTaken: Bool
  ) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell("printf v | secretprefs set --key-file k \(key)", in: home)
    #expect(outcome.exit == (isTaken ? 0 : 64), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("values are not accepted in arguments") == !isTaken)
    #expect(!outcome.errorText.contains("CANARY"))
  }

  @Test func `the help of a command without a result in JSON promises none`() throws {
    let home = try Scratch()
    let schema = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/JSON.schema.json")
    let all = try JSONSerialization.jsonObject(with: try Data(contentsOf: schema)) as? [String: Any]
    let commands = try #require(all?["$defs"] as? [String: Any]).filter { $0.value as? Bool == false }.map(\.key)
    #expect(commands.count >= 4)
    for command in commands {
      let help = try Tool.run(["help", command], in: home).text
      #expect(help.contains("--json") && !help.contains("Write results as JSON"), "\(command)")
    }
  }
}
