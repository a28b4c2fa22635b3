import Foundation
import Testing

/// Paths that are empty. A failed expansion is no default, and no file that is missing.
struct EmptyPathTests {
  /// An option or argument of a command whose value is a path.
  private struct Place {
    let command: [String]
    /// What the command needs besides.
    let others: [String]
    /// `nil` for an argument.
    let option: String?
    /// Distinguishes it from other options of this name.
    let purpose: String

    var words: [String] { command + others + (option.map { [$0] } ?? []) + [""] }
    var error: String { "secretprefs: error: \(option.map { "the path of \($0)" } ?? "an argument") is empty\n" }
  }

  @Test func `an empty path is refused as such in every option and argument`() throws {
    let home = try Scratch()
    let help = try Tool.run(["--experimental-dump-help"], in: home)
    let root = try #require(
      (try JSONSerialization.jsonObject(with: help.output) as? [String: Any])?["command"] as? [String: Any])
    var known: Set<String> = []
    // Many commands have the same options.
    let places = Self.places(root).filter { place in
      place.option.map { known.insert($0 + place.purpose).inserted } ?? true
    }
    #expect(places.count { $0.option != nil } > 20)
    #expect(places.count { $0.option == nil } > 15)
    for place in places {
      let outcome = try Tool.run(place.words, in: home)
      #expect(outcome.exit == 64, "\(place.words)")
      #expect(outcome.errorText.hasPrefix(place.error), "\(place.words): \(outcome.errorText)")
    }
  }

  private static func places(_ command: [String: Any], above: [String] = []) -> [Place] {
    let below = command["subcommands"] as? [[String: Any]] ?? []
    return below.flatMap { command -> [Place] in
      guard let name = command["commandName"] as? String, name != "help" else { return [] }
      let words = above + [name]
      guard command["subcommands"] == nil else { return places(command, above: words) }
      let arguments = command["arguments"] as? [[String: Any]] ?? []
      let required = arguments.filter { $0["kind"] as? String == "option" && $0["isOptional"] as? Bool == false }
        .compactMap(option)
      return arguments.filter(takesPath).map { argument in
        let own = option(argument)
        return Place(
          command: words, others: required.filter { $0 != own }.flatMap { [$0, "other"] }, option: own,
          purpose: argument["abstract"] as? String ?? "")
      }
    }
  }

  private static func takesPath(_ argument: [String: Any]) -> Bool {
    let completion = argument["completionKind"] as? [String: Any] ?? [:]
    return completion["file"] != nil || completion["directory"] != nil
  }

  private static func option(_ argument: [String: Any]) -> String? {
    let names = argument["names"] as? [[String: Any]] ?? []
    return (names.first?["name"] as? String).map { "--\($0)" }
  }

  @Test func `an empty variable of a path is refused as such`() throws {
    let home = try RunTests.prepared()
    let help = try Tool.run(["--experimental-dump-help"], in: home).text
    let files = Set(help.matches(of: #/SECRETPREFS_[A-Z_]+_FILE/#).map { String($0.output) })
    #expect(files.count == 3, "\(files)")
    for variable in files.union(["SECRETPREFS_VAULT", "SECRETPREFS_LOGS", "SECRETPREFS_MARK"]) {
      let key = variable == "SECRETPREFS_DEVICE_KEY_FILE" ? ["--key-file", "k"] : []
      let outcome = try Tool.run(["get", "token"] + key, in: home, environment: [variable: ""])
      #expect(outcome.exit == 64, "\(variable)")
      #expect(outcome.errorText.hasPrefix("secretprefs: error: the variable \(variable) is empty\nsecretprefs: hint: "))
    }
  }

  @Test func `missing descriptions of settings are named as such, with the code of other missing inputs`() throws {
    let outcome = try Tool.shell(
      "echo {} > x.json; secretprefs settings x.json --descriptions absent", in: try Scratch())
    #expect(outcome.exit == 74)
    #expect(
      outcome.errorText
        == "secretprefs: error: the descriptions \"absent\": open the file: No such file or directory\n")
  }
}
