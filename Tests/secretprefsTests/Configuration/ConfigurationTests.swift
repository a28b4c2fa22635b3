import Foundation
import Testing

@testable import secretprefs

/// The settings of the tool and the places that they come from.
struct ConfigurationTests {
  private struct Listed: Decodable {
    struct Value: Decodable, Equatable {
      let name: String
      let value: String
      let origin: String
    }

    let settings: [Value]
  }

  private static func listed(_ command: String, in home: Scratch, _ variables: [String: String] = [:]) throws
    -> [String: Listed.Value]
  {
    let words = command.split(separator: " ").map(String.init)
    let outcome = try Tool.run(words, in: home, environment: variables)
    try #require(outcome.exit == 0, "\(outcome.errorText)")
    let listed = try JSONDecoder().decode(Listed.self, from: outcome.output)
    return Dictionary(uniqueKeysWithValues: listed.settings.map { ($0.name, $0) })
  }

  /// Three different values that a setting may have.
  private static func values(of setting: ToolSetting) -> [String] {
    switch setting {
    case .vault: ["/a", "/b", "/c"]
    case .service, .group: ["a", "b", "c"]
    case .history: ["0", "1", "65535"]
    case .unlockFor, .unlockIdle: ["1s", "2m", "24h"]
    case .unlockKeyring: ["user", "session", "user"]
    case .clearAfter: ["1", "2", "3600"]
    case .failOn: ["error", "advice", "warning"]
    }
  }

  @Test(arguments: ToolSetting.allCases)
  func `a variable wins over the project's file, and that over the user's`(_ setting: ToolSetting) throws {
    let home = try Scratch()
    let values = Self.values(of: setting)
    let name = setting.name
    func now(_ variables: [String: String] = [:]) throws -> Listed.Value? {
      try Self.listed("config list --json", in: home, variables)[name]
    }
    #expect(try now()?.origin == "default")
    #expect(try Tool.run(["config", "set", name, values[0]], in: home).exit == 0)
    #expect(try now() == Listed.Value(name: name, value: values[0], origin: "user"))
    let project = try Tool.run(["config", "set", "--project", name, values[1]], in: home)
    #expect(project.exit == (setting.isForProjects ? 0 : 64))
    let second = setting.isForProjects ? values[1] : values[0]
    #expect(
      try now() == Listed.Value(name: name, value: second, origin: setting.isForProjects ? "project" : "user"))
    let variable = [setting.variable: values[2]]
    #expect(try now(variable) == Listed.Value(name: name, value: values[2], origin: "variable"))
    if setting.isForProjects { #expect(try Tool.run(["config", "unset", "--project", name], in: home).exit == 0) }
    #expect(try Tool.run(["config", "unset", name], in: home).exit == 0)
    #expect(try now()?.origin == "default")
  }

  @Test func `the guide has all settings, with their variables and options`() throws {
    let guide = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Docs/Tool.md"), encoding: .utf8)
    let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
      row.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let expected = ToolSetting.allCases.map { ["`\($0.name)`", "`\($0.variable)`", "`\($0.option)`"] }
    #expect(rows == expected)
  }

  @Test func `each setting has an option of a command, and none is a way to unlock`() throws {
    let home = try Scratch()
    let dump = try Tool.run(["--experimental-dump-help"], in: home).text
    for setting in ToolSetting.allCases {
      #expect(dump.contains("\"name\" : \"\(setting.option.dropFirst(2))\""), "\(setting.option)")
    }
    // The options, and the variables of the credentials' sources.
    let groups: [Any] = [CredentialOptions(), UnlockOptions()]
    let options = groups.flatMap { Mirror(reflecting: $0).children.compactMap(\.label) }.map { label in
      label.drop { $0 == "_" }.reduce("") { $0 + ($1.isUppercase ? "-" : "") + $1.lowercased() }
    }
    #expect(options.count >= 8)
    for setting in ToolSetting.allCases {
      #expect(!options.contains(String(setting.option.dropFirst(2))))
      #expect(CredentialSource(rawValue: "$" + setting.variable) == nil)
    }
  }

  @Test func `the settings of the vault, service, group, history and doctor are used`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      set -e
      secretprefs init --vault "$HOME/v.spv" --key-file k; export SECRETPREFS_KEY_FILE=$HOME/k
      secretprefs config set vault "$HOME/v.spv"
      secretprefs config set service shop; secretprefs config set group ops; secretprefs config set history 7
      secretprefs groups create ops
      printf v > value
      secretprefs set a < value
      secretprefs list --references
      secretprefs info a | grep keeps
      secretprefs set --service other --group default b < value
      secretprefs get secret://other/b; echo
      secretprefs get --service other --group default b; echo
      secretprefs set c --expiry 2020-01-01T00:00:00Z < value
      secretprefs doctor > /dev/null && echo well
      secretprefs config set doctor.fail-on advice; secretprefs doctor > /dev/null || echo advised
      """, in: home)
    #expect(
      outcome.text == "secret://shop/a?group=ops\nkeeps       7 earlier values\nv\nv\nwell\nadvised\n",
      "\(outcome.errorText)")
  }

  @Test func `a link is followed, and the directory that it leads to is checked`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      mkdir -m 700 -p dotfiles .config/secretprefs
      echo 'service = linked' > dotfiles/config; chmod 600 dotfiles/config
      ln -s "$HOME/dotfiles/config" .config/secretprefs/config
      secretprefs config list | grep -c linked
      secretprefs config set history 4; test -L .config/secretprefs/config && cat dotfiles/config
      chmod g+w dotfiles
      secretprefs config list 2> err || echo $?
      grep -c 'group or others may write to the directory' err
      """, in: home)
    #expect(outcome.text == "1\nservice = linked\nhistory = 4\n74\n1\n", "\(outcome.errorText)")
  }

  /// Links from link to link: the directory of each, also of a link in the middle of the path of another.
  @Test(arguments: ["first", "second", "real"])
  func `of a chain of links, the directory of each is checked`(_ open: String) throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      umask 077; mkdir -p .config/secretprefs first second real
      echo 'service = linked' > real/config
      ln -s "$HOME/first/link" .config/secretprefs/config
      ln -s ../second/folder/config first/link
      ln -s ../real second/folder
      secretprefs config list | grep -c linked
      chmod g+w \(open)
      secretprefs config list 2> err || echo $?
      grep -c "/\(open): group or others may write to the directory" err
      """, in: home)
    #expect(outcome.text == "1\n74\n1\n", "\(outcome.errorText)")
  }

  @Test(arguments: ["init --key-file k", "config set history 2", "list"])
  func `a home directory that does not exist is refused, and no command makes it`(_ command: String) throws {
    let home = try Scratch()
    let outcome = try Tool.shell("export HOME=$PWD/absent; secretprefs \(command); echo $?; ls", in: home)
    #expect(outcome.text == "64\n")
    #expect(outcome.errorText.contains("/absent does not exist\n"))
  }

  @Test func `a file that another can change is not read`() throws {
    let home = try Scratch()
    let folder = home.file(".config/secretprefs")
    try #require(Tool.run(["config", "set", "service", "a"], in: home).exit == 0)
    try #require(Tool.run(["config", "set", "--project", "group", "b"], in: home).exit == 0)
    let trusted = try FileManager.default.contentsOfDirectory(atPath: folder + "/trusted")
    #expect(trusted.count == 1)
    for path in ["", "/config", "/trusted", "/trusted/" + trusted[0]] {
      var status = stat()
      try #require(stat(folder + path, &status) == 0)
      for mode: mode_t in [0o020, 0o002] {
        chmod(folder + path, status.st_mode & 0o7777 | mode)
        // The last changes the project's file alone.
        let commands = ["config list", "list", "get a", "config set --project history 2"]
        for command in path == "/config" ? commands.dropLast() : commands[...] {
          let outcome = try Tool.run(command.split(separator: " ").map(String.init), in: home)
          let isRefused = outcome.exit == 74 && outcome.errorText.contains("group or others may write")
          #expect(isRefused, "\(path) \(command): \(outcome.errorText)")
        }
        chmod(folder + path, status.st_mode & 0o7777)
      }
    }
    #expect(try Tool.run(["config"], in: home).exit == 0)
  }

  @Test func `the project's file that is nearest counts, and is read only with trust in this content`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      mkdir -p p/q/r; cd p
      service() {
        secretprefs config list 2> "$HOME/err" | sed -n 's/^service *//p'
        grep -c trust "$HOME/err"
      }
      secretprefs config set --project service outer; cd q/r; service
      echo 'service = inner' > ../.secretprefs; service
      secretprefs config trust > "$HOME/shown"; grep -o 'inner' "$HOME/shown"; service
      echo 'service = other' > ../.secretprefs; service
      echo 'service = inner' > ../.secretprefs; service
      cp -r .. "$HOME/copy"; cd "$HOME/copy/r"; service; cd "$HOME/p/q/r"
      secretprefs config trust --remove; service
      rm ../.secretprefs; mkdir ../.secretprefs; service
      rmdir ../.secretprefs; mkfifo ../.secretprefs; service
      """, in: home)
    let none = "default (default)\n1\n"
    let (outer, inner) = ("outer ({home}/p/.secretprefs:1)\n0\n", "inner ({home}/p/q/.secretprefs:1)\n0\n")
    let expected = [outer, none, "inner\n", inner, none, inner, none, none, outer, outer]
    #expect(Transcript.normal(outcome.text, home) == expected.joined(), "\(outcome.errorText)")
  }

  @Test(arguments: ["/dev/zero", "/dev/full", "fifo", "directory", "loop", "large"])
  func `what is no configuration file ends with an error, and not in memory`(_ target: String) throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      mkfifo fifo; mkdir directory; ln -s loop loop; yes '# a comment' | head -c 70000 > large
      mkdir -p .config/secretprefs
      case \(target) in /*) file=\(target) ;; *) file=$HOME/\(target) ;; esac
      ln -s "$file" .config/secretprefs/config
      secretprefs config list
      """, in: home)
    #expect([65, 74].contains(outcome.exit), "\(outcome.errorText)")
    #expect(outcome.errorText.hasPrefix("secretprefs: error: \(home.path)/.config/secretprefs/config: "))
  }

  @Test func `two changes at the same time are both made`() throws {
    let home = try Scratch()
    let names = ["service", "group", "history", "unlock.for", "unlock.idle", "clipboard.clear-after"]
    for round in 1...5 {
      let line = names.map { "secretprefs config set \($0) \($0.hasPrefix("unlock") ? "\(round)m" : "\(round)") &" }
      try #require(Tool.shell(line.joined(separator: " ") + " wait", in: home).exit == 0)
      let listed = try Self.listed("config list --json", in: home)
      for name in names { #expect(listed[name]?.value.hasPrefix("\(round)") == true, "\(name) in round \(round)") }
    }
  }
}
