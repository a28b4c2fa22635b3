internal import ArgumentParser
internal import DurableFiles
internal import Preferences
internal import VaultCore

/// `secretprefs git-credential`, which git also starts as `git-credential-secretprefs`.
struct GitCredential: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "git-credential",
    abstract: "Stores the passwords of git: a credential helper.",
    usage: "secretprefs git-credential [<options>] get | store | erase",
    discussion: """
      git starts this command, writes what it looks for to standard input and reads the user name and the password \
      from standard output. One of these settings starts it; the first needs a link to the program with the name \
      git-credential-secretprefs:

        git config --global credential.helper secretprefs
        git config --global credential.helper "/usr/bin/secretprefs git-credential"

      Options may follow, such as --vault and --key-file. The settings of a project do not count, nor do \
      $SECRETPREFS_GROUP and $SECRETPREFS_SERVICE: the passwords are in one place, in whichever folder git runs. The \
      command never prompts. If the vault cannot be unlocked, it writes an error, and git goes on to its next helper \
      or prompt.

      The passwords are keys of the service "git": a URL with the user name and without the password. Special \
      characters are percent-encoded, so alice@shop.example is alice%40shop.example. \
      "secretprefs import .git-credentials" makes the same keys. The time at which a password expires is \
      the expiry of its key; an expired password is not given to git. An OAuth refresh token is stored under the same \
      name with "#oauth_refresh_token". Host and protocol must be equal to those of the request, byte for byte, and \
      the user name and path if the request has them. If it names no user and there are several, the one that was \
      stored or changed last in the vault counts, whatever the clocks say. Requests without a host or a protocol, and \
      operations of later versions of git, are ignored.

      git erases a password that a server refuses, even if the server was wrong, and asks for it again. The key is \
      then kept as by "secretprefs remove", and a replaced password as an earlier value: "secretprefs history removed \
      --service git" lists the keys, "secretprefs history restore --service git" restores one. With --read-only, or if \
      $SECRETPREFS_HELPER_READ_ONLY has another value than 0, requests to store and erase are ignored with exit code \
      0. An empty variable is an error.

      A token that is sent as it is, for git 2.46 or later, has the attribute "authtype" with the scheme, such as \
      Bearer. The key of a token may lack the user name.

      EXAMPLE:
        git config --global credential.helper secretprefs
        secretprefs set --service git https://alice@git.example
        secretprefs set --service git https://git.example --attribute authtype=Bearer
        secretprefs list --service git
        git config --global credential.helper "/usr/bin/secretprefs git-credential --read-only"
      """)

  @OptionGroup var helper: HelperOptions

  @Argument(help: ArgumentHelp("The operation.", valueName: "operation"))
  var operations: [String] = []

  func perform(_ messages: Messages) throws {
    switch try Self.sole(operations, "operation") {
    case "get": try get(messages)
    // The request is read all the same, so that git can write it.
    case "store": if try helper.isReadOnly { _ = try GitRequest.read(helper) } else { try store(messages) }
    case "erase": if try helper.isReadOnly { _ = try GitRequest.read(helper) } else { try erase(messages) }
    case "capability": try Output.write("version 0\ncapability authtype\n")
    default: break  // The protocol requires it, so that git can add operations.
    }
  }

  private func get(_ messages: Messages) throws {
    let request = try GitRequest.read(helper)
    guard let wanted = request.login else { return }
    let place = try helper.open(for: "git", messages)
    let values = try place.values
    // For a request without a path, passwords without one come first. Of several users, the one stored last counts, by
    // the order of the vault's writes and not by the clocks of its writers. Of those stored in one write, such as an
    // import, it is the first by name.
    let logins = try Self.logins(wanted, in: values).filter { request.takesAuthtype || $0.record.authtype == nil }
    let exact = logins.filter { $0.login.path == wanted.path }
    let found = (exact.isEmpty ? logins : exact).max { $0.record.revision < $1.record.revision }
    guard let (login, record) = found else { return }
    let output = try SecretOutput(isCollecting: true)
    if let authtype = record.authtype {
      try output.write("capability[]=authtype\n")
      try authtype.withUnsafeBytes { try Self.write("authtype", $0, to: output) }
    }
    if let username = login.username {
      try username.withUnsafeBytes { try Self.write("username", $0, to: output) }
    }
    if !record.isExpired(at: place.now) {
      let name = record.authtype == nil ? "password" : "credential"
      try values.withValue(of: record.key.text) { _, bytes in try Self.write(name, bytes, to: output) }
      if let expiry = record.expiry { try output.write("password_expiry_utc=\(expiry / 1000)\n") }
    }
    let refreshKey = GitLogin.refreshKey(record.key.text)
    if try values.record(refreshKey) != nil {
      try values.withValue(of: refreshKey) { _, bytes in try Self.write("oauth_refresh_token", bytes, to: output) }
    }
    try output.flush()
  }

  private func store(_ messages: Messages) throws {
    let request = try GitRequest.read(helper)
    let expiry = try request.expiry
    guard let login = request.login, !request.isEphemeral else { return }
    let hasPassword = login.username != nil && request.has(.password)
    let authtype = hasPassword || !request.has(.credential) ? nil : request.authtype
    guard hasPassword || authtype != nil else { return }
    let value: GitRequest.AttributeName = hasPassword ? .password : .credential
    let place = try helper.open(for: "git", messages)
    if let expiry, expiry <= place.now { return }
    let (key, refreshKey) = (login.key, GitLogin.refreshKey(login.key))
    let values = try place.values
    let stored = try values.record(key)
    // git stores a password after each use. A write costs a sync of the disk, and versions of git that do not know
    // expiries and refresh tokens would remove them.
    let isStored =
      try stored?.authtype == authtype && Self.agrees(value, of: request, key, in: values)
      && Self.agrees(.refreshToken, of: request, refreshKey, in: values)
      && (expiry == nil ? stored?.isExpired(at: place.now) == false : stored?.expiry == expiry)
    if isStored { return }
    var edit = try Self.login(authtype, over: stored)
    if let expiry { edit.expiry = .set(expiry) }
    try place.update(by: Self.self, messages) { (batch) throws(VaultError) in
      try request.withBytes(of: value) { (value) throws(VaultError) in
        try batch.set(value, kind: Self.kind(of: value), forKey: key, edit: edit)
      }
      guard request.has(.refreshToken) else { return try batch.remove(refreshKey) }
      try request.withBytes(of: .refreshToken) { (value) throws(VaultError) in
        try batch.set(value, kind: Self.kind(of: value), forKey: refreshKey)
      }
    }
  }

  /// The edit that makes a record a password, or a token with a scheme. The other attributes of `record` are kept.
  static func login(_ authtype: [UInt8]? = nil, over record: RecordInfo?) throws(VaultError) -> RecordEdit {
    var edit = RecordEdit()
    edit.attributes = .set(try (record?.attributes ?? []).replacing(RecordInfo.authtypeName, with: authtype))
    return edit
  }

  private func erase(_ messages: Messages) throws {
    let request = try GitRequest.read(helper)
    guard let wanted = request.login else { return }
    let place = try helper.open(for: "git", messages)
    while true {
      let values = try place.values
      let erased = try Self.logins(wanted, in: values).map(\.record).filter { record in
        let (own, other): (GitRequest.AttributeName, GitRequest.AttributeName) =
          record.authtype == nil ? (.password, .credential) : (.credential, .password)
        return try !request.has(other) && Self.agrees(own, of: request, record.key.text, in: values)
      }
      if erased.isEmpty { return }
      do throws(VaultError) {
        return try place.update(by: Self.self, messages) { (batch) throws(VaultError) in
          for record in erased {
            try batch.remove(record.key, ifRevision: record.revision)
            try batch.remove(GitLogin.refreshKey(record.key.text))
          }
        }
      } catch {
        // Another process has stored a password meanwhile, which may be a different one.
        guard error.code == .conflict else { throw error }
      }
    }
  }

  private static func logins(
    _ wanted: GitLogin, in values: ServiceValues
  ) throws(VaultError) -> [(login: GitLogin, record: RecordInfo)] {
    var found: [(login: GitLogin, record: RecordInfo)] = []
    for key in try values.keys {
      guard let login = GitLogin(key: key), wanted.matches(login), let record = try values.record(key) else { continue }
      // A password without a user is not a login.
      if login.username != nil || record.authtype != nil { found.append((login, record)) }
    }
    return found
  }

  private static func kind(of value: RawSpan) -> ValueKind { value.withUnsafeBytes { isUTF8($0) } ? .string : .data }

  /// Whether `key` has the value that the request names. If the request names none, every value agrees.
  private static func agrees(
    _ name: GitRequest.AttributeName, of request: borrowing GitRequest, _ key: String, in values: ServiceValues
  ) throws -> Bool {
    try request.withBytes(of: name) { (given) throws in try values.has(given, forKey: key) } ?? true
  }

  /// Whether git can take a value from a line of the response.
  static func canGive(_ value: some Collection<UInt8>, as name: String) -> Bool {
    !hasControlCharacter(value) && name.utf8.count + value.count + 2 <= GitRequest.longestLine
  }

  /// Writes a line of the response.
  /// - Throws: ``ToolError`` if the value would become several lines, or is too long for one.
  private static func write(_ name: String, _ value: UnsafeRawBufferPointer, to output: SecretOutput) throws {
    guard canGive(value, as: name) else {
      throw ToolError(
        VaultError(.typeMismatch, "the stored \(name) cannot be given to git"),
        hint: "git takes one line without control characters, of at most \(GitRequest.longestLine) bytes")
    }
    try output.write(name + "=")
    for byte in value { try output.put(byte) }
    try output.write("\n")
  }
}

extension RecordInfo {
  fileprivate static let authtypeName = "authtype"

  /// The scheme of a token that is sent as it is, such as Bearer; `nil` for a password.
  fileprivate var authtype: [UInt8]? { attributes.first { $0.name.text == Self.authtypeName }?.data }
}
