internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs run`.
struct Run: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs a command with secrets in its environment.",
    usage: "secretprefs run [<options>] -- <command> [<argument> ...]",
    discussion: """
      The command replaces this process, or with --file or --mask is started by it, as the child of a small process in \
      between: its exit status and signals are its own. Without --only, --env, --file, --env-file and --match, every \
      key of the service becomes a variable; with any of them, only what they choose. All values of one service are \
      from the same moment.

      ENV FILES. A line of --env-file is NAME=value, or NAME=secret://service/key, in place of which the value of the \
      key is passed (REFERENCES in "secretprefs help" has its form; --only, --env and \
      --file take one, too). So the file has no secret, and can be committed; "secretprefs \
      check" checks it. A value is the text up to the end of the line or a comment, or the text between quotes; \
      nothing in it is expanded or run, and in double quotes \\n, \\r and \\t are a line feed, a carriage return and a \
      tab. "secretprefs check" names one that other programs read differently, such as x#y or "$HOME". \
      A reference is the whole value. A line that is malformed, has a reference in a longer \
      value or has one of another program, such as op://, is an error, and so is a key that does not exist: nothing \
      is started. The author of the file chooses the variables, also those that change what programs run; but a \
      value of the vault is passed under no such name. If several have one name, the last of these counts: the \
      inherited environment, the keys of the service, the lines and files in their order, and --only, --env and \
      --file. A plain value is named in a warning if a key has its name.

      NAMES. The variable of a key has the key's ASCII letters in upper case, its digits, and _ for every other \
      character, with another _ in front of a digit: db/password becomes DB_PASSWORD. It is an error if two keys \
      become the same variable, or one that makes most programs run other code, such as PATH, LD_PRELOAD, \
      NODE_OPTIONS or PAGER. Unless the keys are chosen with --only, --env or --file, it is also an error if a \
      key becomes a setting of a widespread program, \
      such as GIT_DIR, TAR_OPTIONS or HTTPS_PROXY. These lists cannot be complete: if others can write to the \
      vault, choose the keys with --only or --env.

      A bool is passed as true or false, a number in decimal, a date as RFC 3339 in UTC. Data, and text that contains \
      NUL, can only be a file. The files of --file are in a new directory in memory that only this user can open \
      ($XDG_RUNTIME_DIR or /dev/shm), and are removed when the command ends, or, if this process or the one in between \
      is killed, by the next "run", "edit --value", "doctor" or "lock" after it has ended. Other programs of the same \
      user can see the environment of a command, and can open such a file.

      The command inherits all other variables, except those that begin with SECRETPREFS_, and all descriptors, except \
      that of --passphrase-fd. With --keep-settings it also inherits the variables that begin with SECRETPREFS_, \
      except a passphrase, so that a credential helper that it starts opens the vault. The exit code is 127 if the \
      command does not exist, and 126 if it cannot be executed; other errors have the codes of "secretprefs \
      exit-codes", and the command is not started.

      With --file or --mask, this process passes on the signals that it gets. Send them to it alone: one for its \
      process group, or for all processes of a unit, reaches the command as well, which gets it twice. So a unit of \
      systemd needs KillMode=mixed, and NotifyAccess=all if the command reports its state (Type=notify, WatchdogSec). \
      LISTEN_PID, WATCHDOG_PID and SYSTEMD_EXEC_PID name the command if they named this process, so it gets the \
      sockets of the unit. As the first process of a container, this one also waits for the processes that others \
      leave behind.

      With --mask, a passed value is shown as *, one for each byte or character beyond ASCII, in every form that \
      "secretprefs scan" finds, if the value is text or data that scan searches for; so is each line of 8 \
      bytes of a value with several. Other values are named in a warning and are not masked. The quotes, backslashes, \
      blanks, +, = and $ at the ends of a value can remain visible, and in Base64 the first and the last digit. If \
      the output ends within a value, its first 8 bytes or more are masked; a value without its beginning is not \
      recognised. The mask also changes redirected output that has a value, such as the dump of a database. A value \
      that is no secret is not masked if its key says \
      so: "secretprefs edit port --not-secret".

      If standard input and standard output are a terminal, the command has a terminal of its own, and what it writes \
      to /dev/tty is masked, too. Otherwise it shares the terminal, for example with the other commands of a \
      pipeline, and what it writes to /dev/tty is not masked. Editors, pagers and prompts work in both. Exit codes, \
      signals, the size of the window and job control pass through; output of processes that outlive the command is \
      lost. Standard output and standard error stay in their order if they are one pipe, or one file to which both \
      append, or, where the system tells it (kcmp), one open file. If output cannot be written, the exit code is 74. \
      If its reader has left, a command that succeeded ends by SIGPIPE (141), as without --mask. A program can still \
      show a value in other ways, such as compressed or reversed, or as vim, man and less -S draw a line that is \
      longer than the screen. Output that ends like the first bytes of a value waits for the next output, but fewer \
      than 4 bytes only 0.05 s: a slow program can show 3 bytes of a value.

      EXAMPLE:
        secretprefs run --service com.example.shop -- server --port 8080
        secretprefs run --env PGPASSWORD=db/password -- psql shop
        secretprefs run --env-file .env --env-file .env.local -- server
        secretprefs run --match 'db/*' --except db/admin -- server
        secretprefs run --env 'TOKEN=secret://ci/token?group=build' -- make deploy
        secretprefs run --only token --file TLS_KEY=tls-key -- server
        secretprefs run --file ID=deploy-key -- sh -c 'ssh -i "$ID" host'
        secretprefs run --keep-settings --only token -- git push
        secretprefs run --mask -- make deploy
      """)

  @OptionGroup var location: LocationOptions

  @Flag(help: .jsonMessages)
  var json = false

  @OptionGroup var unlock: UnlockOptions

  @Option(
    name: FastPathOption.service.name,
    help: ArgumentHelp(
      "The service whose keys are passed. Repeatable.", discussion: ToolSetting.service.places,
      valueName: "name"), completion: .services)
  var service: [String] = []

  @Option(
    name: FastPathOption.group.name,
    help: ArgumentHelp(
      "The access group of these services.",
      discussion: ToolSetting.group.places + ToolSetting.soleGroup, valueName: "name"),
    completion: .groups)
  var group: String?

  @OptionGroup var patterns: PatternOptions

  @Option(
    help: ArgumentHelp(
      "Pass the variables of this dotenv file, and resolve its references. Repeatable.", valueName: "file"),
    completion: .file())
  var envFile: [String] = []

  @Option(
    help: ArgumentHelp("Pass this key under the name that follows from it. Repeatable.", valueName: "key"),
    completion: .keys)
  var only: [String] = []

  @Option(
    help: ArgumentHelp("Pass the value of a key in this variable. Repeatable.", valueName: "NAME=key"),
    completion: .variables)
  var env: [String] = []

  @Option(
    help: ArgumentHelp(
      "Pass the value of a key in a file in memory, and its path in this variable. Repeatable.",
      valueName: "NAME=key"), completion: .variables)
  var file: [String] = []

  @Flag(help: "Fail if a key has expired.")
  var refuseExpired = false

  @Option(
    help: ArgumentHelp(
      "Warn about keys that expire within this time, \(ExpiryRule.usual) by default; 0s does not.",
      valueName: "duration"))
  var expiresWithin: String?

  @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments.", valueName: "command"))
  var command: [String] = []

  @Flag(help: "Replace the values in the output of the command by asterisks.")
  var mask = false

  @Flag(help: "Let the command inherit the SECRETPREFS_ variables, except a passphrase.")
  var keepSettings = false

  func perform(_ messages: Messages) throws {
    guard !command.isEmpty else { throw Self.usageError("no command is given after --") }
    MemoryFolder.removeAbandoned()
    let (environment, search) = try prepare(messages)
    // The error is not shown, because this process then ends by the signal.
    guard !PendingSignal.isPending else { throw VaultError(.noCredential, "interrupted") }
    // Passes the bytes of the arguments, which need not be text.
    let all = launchArguments
    let arguments = all.baseAddress! + (all.count - command.count)
    if search != nil || environment.hasFiles { throw try SupervisedCommand(arguments, environment, search).wait() }
    throw environment.notStarted(try ProcessHardening.suspended { environment.execute(arguments) })
  }

  /// Reads the values. When it returns, the vault is closed, and no descriptor for the command holds a passphrase.
  private func prepare(_ messages: Messages) throws -> (CommandEnvironment, ValueSearch?) {
    var access = try unlock.complete(try location.access())
    access.refusesExpired = refuseExpired
    let expiry = try ExpiryRule(expiresWithin)
    let selection = try selection()
    let values = ReferencedValues(in: try access.open(messages))
    let variables = try FoundVariable.all(try selection.variables(values), in: values)
    try Variable.check(variables.map(\.variable))
    try selection.warn(variables.map(\.variable), values, messages)
    let masked = mask ? try MaskedValues() : nil
    let environment = try CommandEnvironment(variables, keepsSettings: keepSettings) { variable, value in
      if let found = variable.found { try masked?.add(value, of: found.record, called: variable.variable.label) }
    }
    if let text = masked?.warning { messages.warn(text) }
    let now = access.options.now()
    let expired = Set(variables.filter { $0.found?.record.isExpired(at: now) ?? false }.map(\.variable.label))
    if !expired.isEmpty { messages.warn("expired: \(listed(expired.sorted().map(displayed)))") }
    let due = Set(variables.filter { $0.found.map { expiry.isDue($0.record, at: now) } ?? false }.map(\.variable.label))
    if !due.isEmpty { messages.warn("expires within \(expiry.text): \(listed(due.sorted().map(displayed)))") }
    if let descriptor = access.passphraseDescriptor { try PassphraseDescriptor.withhold(descriptor) }
    return (environment, try masked.map { (masked) throws(VaultError) in try ValueSearch(masked.patterns) })
  }

  private func selection() throws -> VariableSelection {
    var places: [RecordPlace] = []
    for place in try service.isEmpty ? [record()] : service.map(record) where !places.contains(place) {
      places.append(place)
    }
    var named = try only.map { Variable(try NamedKey($0, in: places[0]), isChosen: true) }
    named += try env.map { try Variable($0, isFile: false, in: places[0]) }
    named += try file.map { try Variable($0, isFile: true, in: places[0]) }
    guard places.count == 1 || named.allSatisfy({ $0.place == nil }) else {
      throw ToolError.usage(
        "a key is named, and several services", hint: "name the key as secret://service/key, or one service alone")
    }
    let selection = VariableSelection(
      places: places, named: named, files: try envFile.map { try EnvFile($0) },
      choice: try patterns.choice())
    guard selection.passesServices || patterns.except.isEmpty else {
      throw ToolError.usage(
        "--except has no effect, because only named keys are passed", hint: "--match '*' passes all keys besides")
    }
    for file in selection.files { try file.check() }
    return selection
  }

  private func record(of service: String? = nil) throws -> RecordPlace {
    try RecordPlace(service: service, group: group)
  }
}
