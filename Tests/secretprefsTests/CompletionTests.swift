import Foundation
import Testing

struct CompletionTests {
  static let shells = [
    "bash": "exec bash --norc --noprofile -i",
    "zsh": "exec zsh -f -i",
    "fish": "exec fish --no-config -i",
  ].filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0.key) }

  /// What each shell needs to complete, and to say that it is ready.
  static let preparation = [
    "bash": "source <(secretprefs completion bash); PS1=; echo re''ady",
    "zsh": "PS1=; autoload -U compinit; compinit -D; source <(secretprefs completion zsh); echo re''ady",
    "fish": "function fish_prompt; end; secretprefs completion fish | source; echo re''ady",
  ]

  private static func prepared() throws -> Scratch {
    let home = try Scratch()
    let made = try Tool.shell(
      """
      set -e
      secretprefs init --key-file key
      secretprefs groups create billing --key-file key
      printf value-of-%s github | secretprefs set github --key-file key
      printf value-of-%s billing | secretprefs set only --group billing --key-file key
      printf value-of-%s quoted | secretprefs set "it's \\a" --key-file key
      for key in '$(touch ran)' '`touch ran`' '"; touch ran #'; do echo 1 | secretprefs set --key-file key -- "$key"; done
      for key in db:host:port db/main/password db/main/user 'two words'; do
        printf 'value-of-%s' "$key" | secretprefs set "$key" --key-file key
      done
      printf value-of-service | secretprefs set inner --service shop:eu --key-file key
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    return home
  }

  /// A shell on a terminal that completes the tool's commands.
  private struct Session {
    let home: Scratch
    let terminal: PseudoTerminal
    let running: Running

    init(of shell: String) throws {
      home = try CompletionTests.prepared()
      terminal = try PseudoTerminal()
      terminal.resize(rows: 40, columns: 200)
      running = try Running(
        ["/bin/sh", "-c", CompletionTests.shells[shell]! + " >&0 2>&0"], in: home, input: terminal.path,
        environment: ["SECRETPREFS_KEY_FILE": home.file("key"), "TERM": "xterm", "HISTFILE": "/dev/null"])
      terminal.type(CompletionTests.preparation[shell]! + "\n")
      try terminal.wait(for: "ready")
    }

    /// Types a line, and waits for an answer that may have been shown before.
    func type(_ line: String, until answer: String) throws {
      let times = terminal.shown.components(separatedBy: answer).count
      terminal.type(line)
      try terminal.wait(for: answer, times: times)
    }
  }

  @Test(arguments: shells.keys.sorted())
  func `a shell completes commands, options and names as they are stored`(_ shell: String) throws {
    let session = try Session(of: shell)
    let terminal = session.terminal
    terminal.type("secretprefs exit-c\t--js\t\n")
    try terminal.wait(for: #""exit":127"#)
    terminal.type("secretprefs get gith\t\n")
    try terminal.wait(for: "value-of-github")
    terminal.type("secretprefs get --gro\tbil\ton\t\n")
    try terminal.wait(for: "value-of-billing")
    terminal.type("secretprefs get it\t\n")
    try terminal.wait(for: "value-of-quoted")
    terminal.type("secretprefs config set doctor.fail-on adv\t; secretprefs config list\n")
    try terminal.wait(for: "advice (")
    terminal.type("secretprefs get \t\t\u{15}")
    terminal.type("exit\n")
    _ = try session.running.wait()
    #expect(!FileManager.default.fileExists(atPath: session.home.file("ran")))
  }

  @Test(arguments: shells.keys.sorted())
  func `a shell completes names with colons, slashes and blanks`(_ shell: String) throws {
    let session = try Session(of: shell)
    let terminal = session.terminal
    for (typed, answer) in [
      ("get db:\t", "value-of-db:host:port"), ("get db/main/p\t", "value-of-db/main/password"),
      ("get two\t", "value-of-two words"), ("get inner --service shop\t", "value-of-service"),
      ("run --env X=db:h\t -- sh -c 'echo seen-$X'", "seen-value-of-db:host:port"),
      ("get \"db/main/p\t", "value-of-db/main/password"), ("get 'db:h\t", "value-of-db:host:port"),
      ("get \"two\t", "value-of-two words"),
      ("get secret://default/db/main/p\t", "value-of-db/main/password"),
      ("get secret://shop\t", "value-of-service"),
      ("run --env X=secret://default/gi\t -- sh -c 'echo seen-$X'", "seen-value-of-github"),
    ] {
      try session.type("secretprefs \(typed)\n", until: answer)
    }
    terminal.type("exit\n")
    _ = try session.running.wait()
  }

  @Test func `bash completes names with colons, slashes and blanks, options with values, and the command of run`()
    throws
  {
    let session = try Session(of: "bash")
    let terminal = session.terminal
    for (typed, answer) in [
      ("get db:\t", "value-of-db:host:port"), ("get db:host:p\t", "value-of-db:host:port"),
      ("get db/main/p\t", "value-of-db/main/password"), ("get two\t", "value-of-two words"),
      ("get inner --service=shop:\t", "value-of-service"), ("get inner --service shop\t", "value-of-service"),
      ("run --env X=db:h\t -- sh -c 'echo seen-$X'", "seen-value-of-db:host:port"),
      ("run --only github -- printe\tGITHUB", "value-of-github"),
      ("get \"db:host:p\t", "value-of-db:host:port"), ("get 'two w\t", "value-of-two words"),
      ("get \"it\t", "value-of-quoted"), ("get --service 'shop\t inner", "value-of-service"),
      ("get \"db/main/p\t", "value-of-db/main/password"),
      ("get --key-file ~/key db/main/u\t", "value-of-db/main/user"), ("get --group 'billing' on\t", "value-of-billing"),
    ] {
      try session.type("secretprefs \(typed)\n", until: answer)
    }
    // All candidates whole, and not what follows their last slash.
    terminal.type("secretprefs get db/main/\t\t")
    try terminal.wait(for: "db/main/password  db/main/user")
    terminal.type("\u{15}exit\n")
    _ = try session.running.wait()
  }

  @Test(.enabled(if: shells["zsh"] != nil))
  func `zsh completes values behind an equals sign, the command of run, and words behind quoted ones`() throws {
    let session = try Session(of: "zsh")
    let terminal = session.terminal
    for (typed, answer) in [
      ("get inner --service=shop\t", "value-of-service"), ("get --group 'billing' on\t", "value-of-billing"),
      ("get --key-file ~/key db/main/u\t", "value-of-db/main/user"),
      ("get 'two words' --key-file=ke\t", "value-of-two words"),
      ("run --only github -- printe\tGITHUB", "value-of-github"),
    ] {
      try session.type("secretprefs \(typed)\n", until: answer)
    }
    terminal.type("exit\n")
    _ = try session.running.wait()
  }

  @Test func `the script for zsh takes values behind an equals sign, and completes the command of run`() throws {
    let script = try Tool.run(["completion", "zsh"], in: Scratch()).text
    #expect(script.contains("'--service=[") && script.contains("'*:::command:_normal'"))
    // An option without a value takes none.
    #expect(script.contains("'--json[") && !script.contains("'--json=["))
  }

  @Test func `there is a bash`() { #expect(Self.shells["bash"] != nil) }

  @Test func `a completion does not prompt`() throws {
    let home = try Scratch()
    let made = try Tool.shell(
      "echo 'a long enough passphrase' | secretprefs init --passphrase-fd 0 --throwaway-cost", in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let terminal = try PseudoTerminal()
    let outcome = try Running(
      [Tool.path, "---completion", "get", "--", "positional@0", "2", "0", "secretprefs", "get", ""], in: home,
      input: terminal.path
    ).wait()
    terminal.look()
    #expect(outcome.exit == 0)
    #expect(outcome.text == "\n")
    #expect(outcome.errorText.isEmpty)
    #expect(terminal.shown.isEmpty)
  }

  /// The declaration of an argument, as the tool dumps it.
  private struct Declaration: Decodable {
    struct Command: Decodable {
      struct Argument: Decodable {
        let kind: String
        let valueName: String?
        let completionKind: [String: [String: [String]]]?
      }

      let commandName: String
      let arguments: [Argument]?
      let subcommands: [Command]?
    }

    let command: Command
  }

  @Test func `every file, key, group and slot is completed`() throws {
    let dump = try Tool.run(["--experimental-dump-help"], in: try Scratch())
    var commands = [try JSONDecoder().decode(Declaration.self, from: dump.output).command]
    let kinds = [
      "file": "file", "path": "file", "key": "custom", "group": "custom", "service": "custom", "id": "custom",
    ]
    var count = 0
    while let command = commands.popLast() {
      commands += command.subcommands ?? []
      for argument in command.arguments ?? [] where argument.kind != "flag" {
        guard let kind = kinds[argument.valueName ?? ""] else { continue }
        count += 1
        #expect(argument.completionKind?.keys.first == kind, "\(command.commandName) <\(argument.valueName!)>")
      }
    }
    #expect(count > 100)
  }
}
