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
      The command replaces this process, or with --file or --mask is its child: its exit status and signals are its \
      own. Without --only, --env and --file, \
      every key of the service becomes a variable; with any of them, only the chosen keys. All values are from the \
      same moment.

      NAMES. The variable of a key has the key's ASCII letters in upper case, its digits, and _ for every other \
      character, with another _ in front of a digit: db/password becomes DB_PASSWORD. It is an error if two keys \
      become the same variable, or one that makes most programs run other code, such as PATH, LD_PRELOAD or \
      NODE_OPTIONS. Without a choice of keys, it is also an error if a key becomes a setting of a widespread program, \
      such as PAGER, GIT_DIR, TAR_OPTIONS or HTTPS_PROXY. These lists cannot be complete: if others can write to the \
      vault, choose the keys with --only or --env.

      A bool is passed as true or false, a number in decimal, a date as RFC 3339 in UTC. Data, and text that contains \
      NUL, can only be a file. The files of --file are in a new directory in memory that only this user can open \
      ($XDG_RUNTIME_DIR or /dev/shm), and are removed when the command ends, or by a later use of the tool if it is \
      killed. Other programs of the same user can see the environment of a command, and can open such a file.

      The command inherits all other variables, except those that begin with SECRETPREFS_, and all descriptors, except \
      that of --passphrase-fd. With --keep-settings it also inherits the variables that begin with SECRETPREFS_, \
      except a passphrase, so that a credential helper that it starts opens the vault. The exit code is 127 if the \
      command does not exist, and 126 if it cannot be executed; other errors have the codes of "secretprefs \
      exit-codes", and the command is not started.

      With --mask, each byte of a passed value is shown as *, if the \
      value is text or data with at least 8 bytes, in every form that "secretprefs scan" finds; so is each line of 8 \
      bytes of a value with several. Other values are named in a warning and are not masked. The quotes, backslashes, \
      blanks, + and $ at the ends of a value can remain visible. If the output ends within a value, its first 8 bytes \
      or more are masked; a value without its beginning is not recognised. The mask also changes redirected output \
      that has a value, such as the dump of a database. A value that is no secret is not masked if its key has the \
      attribute secret=no: "secretprefs edit port --attribute secret=no".

      If standard output or standard error is a \
      terminal, the command has a terminal of its own, and editors and pagers work. Exit codes, signals, the size of \
      the window and job control pass through; output of processes that outlive the command is lost. If output cannot \
      be written, the exit code is 74. If its reader has left, a command that succeeded ends by SIGPIPE (141), as \
      without --mask. A program can \
      still show a value in other ways, such as compressed or reversed. Output that ends like the first bytes of a \
      value waits for the next output, but fewer than 4 bytes only 0.05 s: a slow program can show 3 bytes of a value.

      EXAMPLE:
        secretprefs run --service com.example.shop -- server --port 8080
        secretprefs run --env PGPASSWORD=db/password -- psql shop
        secretprefs run --only token --file TLS_KEY=tls-key -- server
        secretprefs run --file ID=deploy-key -- sh -c 'ssh -i "$ID" host'
        secretprefs run --keep-settings --only token -- git push
        secretprefs run --mask -- make deploy
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

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

  @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments.", valueName: "command"))
  var command: [String] = []

  @Flag(help: "Replace the values in the output of the command by asterisks.")
  var mask = false

  @Flag(help: "Let the command inherit the SECRETPREFS_ variables, except a passphrase.")
  var keepSettings = false

  func perform(_ messages: Messages) throws {
    guard !command.isEmpty else { throw Self.usageError("no command is given after --") }
    let (environment, search) = try prepare(messages)
    // The error is not shown, because this process then ends by the signal.
    guard !PendingSignal.isPending else { throw VaultError(.noCredential, "interrupted") }
    // Passes the bytes of the arguments, which need not be text.
    let all = launchArguments
    let arguments = all.baseAddress! + (all.count - command.count)
    if search != nil || environment.hasFiles { throw try SupervisedCommand(arguments, environment, search).wait() }
    throw ToolError.notStarted(try ProcessHardening.suspended { environment.execute(arguments) })
  }

  /// Reads the values. When it returns, the vault is closed, and no descriptor for the command holds a passphrase.
  private func prepare(_ messages: Messages) throws -> (CommandEnvironment, ValueSearch?) {
    var access = try unlock.complete(try vault.access())
    access.refusesExpired = refuseExpired
    let place = try record.place()
    var variables = only.map { Variable(key: $0, isChosen: true) }
    variables += try env.map { (text) throws(ToolError) in try Variable(text, isFile: false) }
    variables += try file.map { (text) throws(ToolError) in try Variable(text, isFile: true) }

    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let values = try ServiceValues(of: place.service, in: group, of: vault)
    if variables.isEmpty { variables = try values.keys.map { Variable(key: $0, isChosen: false) } }
    guard !variables.isEmpty else { throw ToolError.emptyService }
    let records = try variables.compactMap { (variable) throws(VaultError) in try values.record(variable.key) }
    guard records.count == variables.count else {
      let missing = Set(variables.map(\.key)).subtracting(records.map(\.key.text))
      guard variables.count > 1 else { throw try place.noSuchKey(variables[0].key, in: group, of: vault) }
      throw ToolError.missing(missing, "nothing was started")
    }
    try Variable.check(variables)
    let masked = mask ? try MaskedValues(records) : nil
    let environment = try CommandEnvironment(variables, from: values, keepsSettings: keepSettings) {
      try masked?.add($1, of: $0)
    }
    if let text = masked?.warning { messages.warn(text) }
    let now = access.options.now()
    let expired = Set(records.filter { $0.isExpired(at: now) }.map(\.key.text))
    if !expired.isEmpty { messages.warn("expired: \(listed(expired.sorted().map(displayed)))") }
    if let descriptor = access.passphraseDescriptor { try PassphraseDescriptor.withhold(descriptor) }
    return (environment, try masked.map { (masked) throws(VaultError) in try ValueSearch(masked.patterns) })
  }
}
