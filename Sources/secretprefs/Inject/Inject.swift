internal import ArgumentParser
internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// `secretprefs inject`.
struct Inject: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Replaces the references in a template by values.",
    usage: "secretprefs inject [<options>]",
    discussion: """
      A reference is {{ secret://service/key }}, or {{ secret://service/key?group=name }} for a group other than the \
      default one; REFERENCES in "secretprefs help" has its form. A reference in \
      quotes, {{ "secret://service/key" }}, is written without them and is not replaced. All other text, including \
      other braces, is passed on byte for byte, and values are not quoted.

      An error names the line of the reference, and nothing is written: if a key does not exist, a value is data and \
      not text, or a reference is malformed. The file of --out is replaced as a whole. It belongs to the current user, \
      with the mode of --mode. A template has at most 16 MiB, and what is written at most 64 MiB.

      "secretprefs check" finds all of these errors but the length, and opens no value.

      EXAMPLE:
        secretprefs inject --in server.toml.template --out server.toml
        secretprefs inject < pgpass.template | docker secret create pgpass -
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    name: .customLong("in"), help: ArgumentHelp("The template. Default: standard input.", valueName: "file"),
    completion: .file())
  var template: String?

  @Option(
    help: ArgumentHelp("The file to write or replace. Default: standard output.", valueName: "file"),
    completion: .file())
  var out: String?

  @Option(help: ArgumentHelp("The permissions of the file of --out, in octal: 640, or 0640.", valueName: "mode"))
  var mode = "600"

  @Flag(help: "Fail if a key has expired.")
  var refuseExpired = false

  func perform(_ messages: Messages) throws {
    if let template {
      try refuseDash(template, as: "--in", hint: "omit --in for standard input, or write the name - as ./-")
    }
    var access = try unlock.complete(try vault.access())
    access.refusesExpired = refuseExpired
    guard template != nil || access.passphraseDescriptor != STDIN_FILENO else {
      throw ToolError.usage(
        "standard input cannot be both the passphrase and the template", hint: "read the template with --in")
    }
    // Typing a template by hand is more likely a forgotten --in.
    guard template != nil || isatty(STDIN_FILENO) == 0 else {
      throw ToolError.usage("there is no template: standard input is a terminal", hint: "name the template with --in")
    }
    if let out { try check(out, access) }
    guard !vault.json || out != nil else { throw ToolError.usage("--json needs --out", hint: Self.usage) }
    let mode = try permissions()
    let opened = try access.open(messages)
    let values = ReferencedValues(in: opened)
    let now = access.options.now()
    let output = try GuardedBuffer()
    let known = try GuardedBuffer()
    var places: [ReferencedValues.Identity: Range<Int>] = [:]
    var expired = 0
    let count = try readTemplate().withUnsafeBytes { text in
      // Before any value is opened, which may be logged.
      let records = try Self.records(of: text, in: values)
      return try Template.fill(text, into: output) { reference in
        guard let found = records[reference.text] else { throw ToolError.noSuchKey }
        let place: Range<Int>
        if let opened = places[found.identity] {
          place = opened
        } else {
          if found.record.isExpired(at: now) { expired += 1 }
          let start = known.count
          try ReferencedValues.withValue(of: found) { isText, bytes in
            guard isText else { throw Self.notText.about(key: reference.key) }
            try known.append(bytes)
          }
          place = start..<known.count
          places[found.identity] = place
        }
        try known.withUnsafeBytes { try output.append(UnsafeRawBufferPointer(rebasing: $0[place])) }
      }
    }
    if expired > 0 { messages.warn("\(counted(expired, "key has", "keys have")) expired") }
    guard let out else {
      return try output.withUnsafeBytes { (bytes) throws(ToolError) in
        if isatty(STDOUT_FILENO) == 1 { try ControlCharacters.check(bytes, messages) }
        try Output.write(bytes)
      }
    }
    do throws(PreferencesError) {
      try output.withUnsafeBytes { (bytes) throws(PreferencesError) in
        try FileReplacement.replace(out, with: bytes.bytes, mode: mode)
      }
    } catch { throw error.about("\"\(out)\"") }
    Output.recordChange(by: Self.self)
    guard vault.json else { return }
    try Output.write(.object([("out", .string(out)), ("references", .unsigned(UInt64(count)))]))
  }

  /// The records of the references in a template, by the text of the reference.
  ///
  /// - Throws: One error for all references that are malformed or lead to no key, each with its line.
  private static func records(
    of template: UnsafeRawBufferPointer, in values: ReferencedValues
  ) throws -> [String: ReferencedValues.Found] {
    var records: [String: ReferencedValues.Found] = [:]
    var faults: [ToolError] = []
    try Template.scan(template) { _ in
    } reference: { match in
      do {
        let reference = try match.result.mapError(\.error).get()
        if !match.isQuoted, records[reference.text] == nil { records[reference.text] = try values.find(reference) }
      } catch {
        let fault = ToolError(thrown: error)
        guard ReferenceRule.concerns(fault) || fault.code == VaultError.Code.malformed.rawValue else { throw fault }
        faults.append(fault.about(match.place))
      }
    }
    if let error = ToolError.all(of: faults) { throw error }
    return records
  }

  private static let notText = ToolError(VaultError(.typeMismatch, "the value is data and not text"))

  private func permissions() throws(ToolError) -> mode_t {
    let digits = self.mode.utf8.count == 4 && self.mode.hasPrefix("0") ? self.mode.dropFirst() : self.mode[...]
    guard digits.utf8.count == 3, let mode = mode_t(digits, radix: 8), !digits.hasPrefix("+"), mode & 0o400 != 0 else {
      throw .usage(
        "--mode must have three octal digits, and let the owner read the file",
        hint: "--mode 640 lets the file's group read it")
    }
    guard mode == 0o600 || out != nil else { throw .usage("--mode needs --out", hint: Self.usage) }
    return mode
  }

  private func readTemplate() throws -> SecretBytes {
    guard let template else {
      return try ReferenceFile.read(STDIN_FILENO, atMost: Template.longest, "read standard input", "the template")
    }
    return try ReferenceFile.read(template, atMost: Template.longest, "template")
  }

  /// Refuses a path whose replacement would lose something: anything but a regular file, and the command's own files.
  private func check(_ out: String, _ access: VaultAccess) throws {
    try refuseDash(out, as: "--out", hint: "omit --out for standard output, or write the name - as ./-")
    var status = stat()
    guard lstat(out, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw ToolError.usage("\(out): --out replaces regular files only", hint: "omit --out for standard output")
    }
    try access.checkOutput(out, as: "--out", reading: [template], template == nil ? STDIN_FILENO : nil)
  }
}
