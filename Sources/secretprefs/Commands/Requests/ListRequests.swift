internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs requests list`.
struct ListRequests: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the requests for access.",
    usage: "secretprefs requests [list] [<options>]",
    discussion: """
      One request per line, the oldest first: the public key, what it has access to, the user that the file belongs \
      to or the role of the database, the time and the note. An owner compares all digits of the public key with those \
      that "secretprefs identity show" shows to the holder: the note, and for a user who can change files, the rest, \
      say what the writer wants. Characters of the note that are not printable are shown as \\u{…}.

      A warning names what is not a request, and what may be one and cannot be read: "requests add" makes a file that \
      all users can read.

      What a public key has access to is only known if the vault can be unlocked as an owner without a prompt.

      EXAMPLE:
        secretprefs requests
        secretprefs requests list --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var request: RequestOptions

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    let contents = try request.place(of: access).contents()
    let slots = contents.requests.isEmpty ? [] : try slots(access, messages)
    contents.warn(messages)
    let lines = contents.requests.map { request in
      (request, slots?.filter { $0.publicKey == request.publicKey })
    }
    guard !vault.json else {
      return try Output.write(.array(lines.map { request, slots in request.json(slots) }))
    }
    try Output.write(Table(rows: lines.map { request, slots in request.cells(slots) }).text)
  }

  /// The slots of the vault; `nil` if they are not known, with a note that says why.
  private func slots(_ access: VaultAccess, _ messages: Messages) throws -> [SlotInfo]? {
    let reason: String
    do {
      if let vault = try access.openIfConfigured(messages)?.vault { return try vault.slots() }
      reason = "no passphrase or key is configured"
    } catch let error as VaultError {
      // Who may ask need not have the right to read the vault.
      let isExpected =
        [.ownerRequired, .credentialRejected, .noCredential, .notFound].contains(error.code) || error.errno == EACCES
      guard isExpected else { throw error }
      reason = error.message
    }
    messages.tell("what the public keys have access to is not known (\(displayed(reason)))")
    return nil
  }
}

extension RequestContents {
  /// The most parts that are named.
  private static let mostNamed = 10

  /// Warns about what is there and is not listed.
  func warn(_ messages: Messages) {
    warn(refused, "is not a request", "are not requests", messages)
    warn(unread, "may be a request that cannot be read", "may be requests that cannot be read", messages)
    if !isWhole {
      messages.warn("\(place) has more than \(Self.most) \(part)s; only so many were read: see who may write there")
    }
  }

  private func warn(_ found: [(name: String, reason: String)], _ one: String, _ many: String, _ messages: Messages) {
    for (name, reason) in found.prefix(Self.mostNamed) {
      messages.warn("\(displayed(name)) \(one): \(displayed(reason))")
    }
    if found.count > Self.mostNamed {
      messages.warn("\(found.count - Self.mostNamed) further \(part)s in \(place) \(many)")
    }
  }
}

extension Request {
  /// - Parameter slots: the slots of the public key; `nil` if they are not known.
  fileprivate func cells(_ slots: [SlotInfo]?) -> [String] {
    let access = slots.map { $0.isEmpty ? "no access" : $0.map(\.scope).joined(separator: ", ") } ?? "access unknown"
    return ["\(publicKey)", access, origin.text, Timestamp(milliseconds: time)?.text ?? "-", displayed(note)]
  }

  fileprivate func json(_ slots: [SlotInfo]?) -> JSON {
    .object(
      [("publicKey", .string("\(publicKey)")), ("note", .string(note))] + origin.json + [("time", .time(time))]
        + (slots.map { [("slots", .array($0.map(\.json)))] } ?? []))
  }
}
