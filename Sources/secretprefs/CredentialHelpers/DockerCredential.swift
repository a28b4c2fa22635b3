internal import ArgumentParser
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// `secretprefs docker-credential`, which docker starts as `docker-credential-secretprefs`.
struct DockerCredential: WritingCommand {
  static let link = "docker-credential-secretprefs"

  static let configuration = CommandConfiguration(
    commandName: "docker-credential",
    abstract: "Stores the logins of docker: a credential helper.",
    usage: "secretprefs docker-credential [<options>] store | get | erase | list | version",
    discussion: """
      docker and its relatives start this command under the name docker-credential-secretprefs, a link to the program, \
      if their config.json has "credsStore": "secretprefs", or "credHelpers": {"registry.example": "secretprefs"}. \
      They give no options: name the vault and its key file with $SECRETPREFS_VAULT and $SECRETPREFS_KEY_FILE. The \
      settings of a project do not count, nor do $SECRETPREFS_GROUP and $SECRETPREFS_SERVICE: the logins are in one \
      place, in whichever folder docker runs. The command never prompts.

      The logins are keys of the service "docker": the server's address as docker writes it. The user name is the \
      attribute "username" of the key. "secretprefs import config.json" makes the same keys. An \
      expired login counts as missing. An erased login is kept as by "secretprefs remove", and a replaced one as an \
      earlier value: "secretprefs history restore --service docker" restores it. With --read-only, or if \
      $SECRETPREFS_HELPER_READ_ONLY has another value than 0, storing and erasing are refused; an empty variable is \
      an error. As the protocol demands, all errors are text on standard output with exit code 1, but invalid options \
      and lost output are reported as by other commands.

      EXAMPLE:
        ln -s /usr/bin/secretprefs /usr/local/bin/docker-credential-secretprefs
        secretprefs set --service docker registry.example --attribute username=alice
        secretprefs list --service docker
      """)

  private static let username = "username"
  /// The user name of a login by an identity token.
  static let tokenUser = "<token>"

  @OptionGroup var helper: HelperOptions

  @Argument(help: ArgumentHelp("The action.", valueName: "action"))
  var actions: [String] = []

  func perform(_ messages: Messages) throws {
    do { try answer(messages) } catch { throw DockerRefusal(thrown: error, messages.given) }
  }

  private func answer(_ messages: Messages) throws {
    guard let action = actions.first, actions.count == 1 else { throw DockerRefusal.usage }
    if ["store", "erase"].contains(action), try helper.isReadOnly { throw DockerRefusal.readOnly }
    switch action {
    case "store": try store(messages)
    case "get": try get(messages)
    case "erase": try erase(messages)
    case "list": try list(messages)
    case "version": try Output.write("\(Self.link) (SecretPreferences) \(Root.toolVersion)\n")
    default: throw DockerRefusal.unknownAction
    }
  }

  private func get(_ messages: Messages) throws {
    let server = try readServer()
    let place = try helper.open(for: "docker", messages)
    let values = try place.values
    guard let record = try values.record(server), let user = Self.user(of: record, at: place.now) else {
      throw DockerRefusal.notFound
    }
    let output = try SecretOutput(isCollecting: true)
    let names = [("ServerURL", JSON.string(record.key.text)), ("Username", .string(user))]
    try output.write(JSON.object(names).text.dropLast() + ",\"Secret\":\"")
    try values.withValue(of: server) { isText, bytes in
      guard isText else { throw ToolError(VaultError(.typeMismatch, "the secret is data and not text")) }
      try output.writeEscaped(bytes)
    }
    try output.write("\"}\n")
    try output.flush()
  }

  private func store(_ messages: Messages) throws {
    let request = try DockerRequest(try helper.readRequest())
    let place = try helper.open(for: "docker", messages)
    let server = request.server
    let values = try place.values
    let stored = try values.record(server)
    if try Self.isStored(request, as: stored, in: values, at: place.now) { return }
    let edit = try Self.login(of: request.user, over: stored)
    try place.update(by: Self.self, messages) { (batch) throws(VaultError) in
      try request.withSecret { (secret) throws(VaultError) in
        try batch.set(secret, kind: .string, forKey: server, edit: edit)
      }
    }
  }

  /// Whether docker gets the user and secret of a request already. To store an equal login again, as each
  /// `docker login` does, would drop an earlier value.
  private static func isStored(
    _ request: borrowing DockerRequest, as stored: RecordInfo?, in values: ServiceValues, at now: Int64
  ) throws -> Bool {
    guard let stored, stored.kind == .string, let user = Self.user(of: stored, at: now),
      user.utf8.elementsEqual(request.user.utf8)
    else { return false }
    return try request.withSecret { (secret) throws in try values.has(secret, forKey: stored.key.text) }
  }

  private func erase(_ messages: Messages) throws {
    let server = try readServer()
    try helper.open(for: "docker", messages).update(by: Self.self, messages) { (batch) throws(VaultError) in
      try batch.remove(server)
    }
  }

  private func list(_ messages: Messages) throws {
    let place = try helper.open(for: "docker", messages)
    let logins = try place.vault.records(service: place.service, in: place.group).compactMap { record in
      Self.user(of: record, at: place.now).map { (record.key.text, JSON.string($0)) }
    }
    try Output.write(.object(logins))
  }

  /// The edit that makes a record the login of a user. The other attributes of `record` are kept.
  static func login(of user: String, over record: RecordInfo?) throws(VaultError) -> RecordEdit {
    var edit = RecordEdit()
    edit.attributes = .set(try (record?.attributes ?? []).replacing(username, with: Array(user.utf8)))
    return edit
  }

  /// The user of a login; `nil` if the record is not a login, or has expired.
  private static func user(of record: RecordInfo, at now: Int64) -> String? {
    record.isExpired(at: now) ? nil : record.attributes.first { $0.name.text == username }?.text
  }

  /// The address of a server, without the white space around it.
  private func readServer() throws -> String {
    let text = try helper.readRequest().withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    guard let text else { throw DockerRefusal("the server URL is not UTF-8") }
    let bytes = text.utf8.drop(while: InputText.isSpace)
    guard let last = bytes.lastIndex(where: { !InputText.isSpace($0) }) else { throw DockerRefusal.noServer }
    return String(text[bytes.startIndex...last])
  }
}

/// An error in the form of docker's protocol: text on standard output, and exit code 1. Docker compares some of the
/// texts.
struct DockerRefusal: Error {
  static let notFound = DockerRefusal("credentials not found in native keychain")
  static let noServer = DockerRefusal("no credentials server URL")
  static let noUser = DockerRefusal("no credentials username")
  static let usage = DockerRefusal("Usage: \(DockerCredential.link) <store|get|erase|list|version>")
  static let readOnly = DockerRefusal("the logins are read-only here: nothing was changed")
  // Does not repeat the word, which may be a misplaced secret.
  static let unknownAction = DockerRefusal("\(DockerCredential.link): unknown action")

  let text: String

  init(_ text: String) { self.text = text }

  init(thrown error: any Error, _ given: GivenOptions) {
    if let refusal = error as? DockerRefusal {
      self = refusal
    } else {
      let error = ToolError(thrown: error)
      let hint = error.hint.map { "; \(given.named($0))" } ?? ""
      text = withoutPasswords("secretprefs: " + displayed(error.message) + hint)
    }
  }

  /// Writes the error and returns its exit code.
  func report(_ messages: Messages) -> ExitStatus {
    do throws(ToolError) { try Output.write(text + "\n") } catch { return messages.report(error) }
    return .no
  }
}
