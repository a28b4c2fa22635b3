import Foundation
import Testing

/// The commands of the tool on a vault in a database.
struct DatabaseCommandTests {
  /// Those of ``LostOutputTests`` that work on the vault of its home.
  private static let commands = (LostOutputTests.writing + LostOutputTests.silent + LostOutputTests.reading)
    .filter { command in !command.contains("--vault ") }

  /// What a command did: how it ended, what it said, and the vault after it.
  private struct Effect: Equatable {
    let exit: Int32
    let said: String
    let vault: String

    /// - Parameters:
    ///   - place: The path or URL of the vault.
    ///   - name: What the tool calls it.
    init(_ command: String, on place: String, named name: String, in home: Scratch) throws {
      let outcome = try Tool.shell(
        """
        export SECRETPREFS_VAULT='\(place)' EDITOR='sed -i s/long/longer/'
        export SECRETPREFS_KEY_FILE=k SECRETPREFS_LOGS=logs
        asked=$(cat asked)
        slot=$(secretprefs slots --json | sed 's/.*"id":"\\([0-9a-f]*\\)","kind":"passphrase".*/\\1/')
        secretprefs \(command)
        status=$?
        {
          for service in default s old git docker; do secretprefs list --long --service $service; done
          secretprefs groups
          secretprefs slots
          secretprefs verify
        } > .after 2>&1
        exit $status
        """, in: home)
      func normal(_ text: String) -> String {
        // A file has a reserve.
        // The value of a setting is shown as it was given.
        Transcript.normal(text, home).replacing(Transcript.normal(place, home), with: "{vault}")
          .replacing(Transcript.normal(name, home), with: "{vault}")
          .replacing(/(file|stored)  ?( *)[0-9]+ bytes/, with: "stored {count} bytes")
          .replacing(/"fileBytes":[0-9]+/, with: "{count}")
          .replacing(/is kept: .*/, with: "is kept")
          // A file of a user, and a row of a role.
          .replacing(#/  (user|role) [a-z{}]+/#, with: "  {origin}")
      }
      exit = outcome.exit
      // A generated value, the key of a new identity, and a code of this moment.
      let isRandom = command.hasPrefix("generate") && command.contains(" --") || command.hasPrefix("identity")
      said = isRandom || command.hasPrefix("otp timed") ? "" : normal(outcome.text) + "\n" + normal(outcome.errorText)
      vault = normal(try String(contentsOfFile: home.file(".after"), encoding: .utf8))
    }
  }

  @Test(DatabaseServer.isNeeded, arguments: commands)
  func `a command does with a vault in a database what it does with one in a file`(_ command: String) throws {
    let file = try LostOutputTests.home()
    let path = file.file(".local/share/secretprefs/default.spv")
    let expected = try Effect(command, on: path, named: path, in: file)

    let home = try LostOutputTests.home()
    let name = UUID().uuidString
    let database = try DatabaseServer.database()
    let url = database + "#" + name
    let imported = try Tool.shell(
      """
      secretprefs postgres import .local/share/secretprefs/default.spv --vault '\(url)' --json && rm -r .local
      secretprefs requests add --identity asking --vault '\(url)' > /dev/null
      """, in: home)
    #expect(imported.exit == 0, "\(imported.errorText)")
    let called = imported.text.split(separator: "\"").first { $0.hasPrefix("postgresql:") }.map(String.init) ?? ""
    #expect(try Effect(command, on: url, named: called, in: home) == expected)
    // The role has left a request in each of these vaults, and may leave a hundred in all.
    let removal = "delete from secretprefs.request where vault = '\(name)'"
    let ended = try Tool.shell("test ! -e .local && psql -q '\(database)' -c \"\(removal)\"", in: home)
    #expect(ended.exit == 0, "\(ended.errorText)")
  }

  @Test(DatabaseServer.isNeeded, Keyring.isNeeded)
  func `a kept key opens a vault in a database by each spelling of its URL`() throws {
    let home = try LostOutputTests.home()
    let database = try DatabaseServer.database()
    let (url, name) = ("\(database)#\(UUID().uuidString)", UUID().uuidString)
    let outcome = try Keyring.session(
      """
      set -e
      secretprefs postgres import .local/share/secretprefs/default.spv --vault '\(url)'
      secretprefs postgres import .local/share/secretprefs/default.spv --vault '\(database)#\(name)'
      secretprefs unlock --key-file k --vault '\(url)' --json | grep -o '"vault":"postgresql://[^"]*"'
      secretprefs get a --newline --no-prompt --vault '\(url.replacing("#", with: "&connect_timeout=9#"))'
      secretprefs get a --newline --no-prompt --vault '\(database)#\(name)'
      secretprefs lock --json --vault '\(url)' | grep -o '"removed":[a-z]*'
      secretprefs get a --no-prompt --vault '\(url)'
      """, in: home)
    #expect(outcome.exit == 78, "\(outcome.errorText)")
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.dropFirst() == ["a value that is long enough", "a value that is long enough", "\"removed\":true"])
    #expect(lines.first?.contains("user") == false)
  }

  @Test func `every command that opens a vault is tried with one in a database`() throws {
    let help = try Tool.run(["--experimental-dump-help"], in: try Scratch())
    let root = try #require(
      (try JSONSerialization.jsonObject(with: help.output) as? [String: Any])?["command"] as? [String: Any])
    let untried = Self.opening(root).filter { words in
      // The default command of a parent may be left out.
      !Self.commands.contains { command in
        [words, String(words.prefix { $0 != " " })].contains { command == $0 || command.hasPrefix($0 + " ") }
      }
    }
    // The transcript of the database tries the first and "run"; the others are about the terminal, the kernel, and files.
    #expect(
      Set(untried) == [
        "postgres init", "postgres grant", "postgres status", "postgres prune", "postgres import", "postgres export",
        "init", "settings", "unlock", "lock", "run",
      ])
  }

  /// The words of all commands below that have `--vault`.
  private static func opening(_ command: [String: Any], above: [String] = []) -> [String] {
    let below = command["subcommands"] as? [[String: Any]] ?? []
    return below.flatMap { command -> [String] in
      guard let name = command["commandName"] as? String, name != "help" else { return [] }
      let options = (command["arguments"] as? [[String: Any]] ?? []).flatMap { $0["names"] as? [[String: Any]] ?? [] }
      let isOpening = options.contains { $0["name"] as? String == "vault" } && command["subcommands"] == nil
      return (isOpening ? [(above + [name]).joined(separator: " ")] : []) + opening(command, above: above + [name])
    }
  }
}
