internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs otp`.
struct Otp: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "otp",
    abstract: "Writes a one-time code.",
    usage: "secretprefs otp [<options>] <key>",
    discussion: """
      The value of the key is the text of the QR code that a service shows, which begins with otpauth://, on a line of \
      its own. It can also be the secret in base32 alone. Time-based (TOTP) and counter-based (HOTP) codes with \
      SHA1, SHA256 or SHA512 are supported, and those of Steam (encoder=steam, the type or the issuer Steam, or \
      steam:// and the secret). key=…&step=…&size=… of KeePassXC is read, too. Store the value with "secretprefs set".

      The number of the next HOTP code is in the value. It is increased before the code is shown, so that no code is \
      given twice, also not to several processes at once. On a terminal a note says how long a code of the time is \
      valid.

      EXAMPLE:
        secretprefs set github/otp
        secretprefs otp github/otp
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let output = try SecretOutput()
    while true {
      let record = try place.existing(key, in: group, of: vault)
      let password = try vault.withShownValue(of: record, in: group) { isText, bytes in
        guard isText else { throw ToolError.oneTime("the value is not text") }
        return try OneTimePassword(bytes)
      }
      let now = access.options.now()
      let seconds = UInt64(max(0, now / 1000))
      let number: UInt64
      let members: [(String, JSON)]
      switch password.factor {
      case .time(let period):
        number = seconds / period
        members = [
          ("type", .string("totp")), ("period", .unsigned(period)), ("remaining", .unsigned(period - seconds % period)),
        ]
      case .counter(let counter):
        number = counter
        members = [("type", .string("hotp")), ("counter", .unsigned(counter))]
      }
      let code = try password.code(number)
      guard try store(password.successor, replacing: record, in: group, of: vault, messages) else { continue }
      if record.isExpired(at: now) { messages.warn("the key has expired") }
      try write(code, JSON.object([("key", .string(key))] + members), to: output)
      if case .time(let period) = password.factor { messages.note("valid for \(period - seconds % period) s") }
      return
    }
  }

  /// Stores the value with the next number, if there is one, before the code is shown. Returns `false` if another
  /// process has taken this number.
  private func store(
    _ successor: GuardedBuffer?, replacing record: RecordInfo, in group: AccessGroup, of vault: Vault,
    _ messages: Messages
  ) throws -> Bool {
    guard let successor else { return true }
    var edit = RecordEdit()
    edit.keepsReplacedValue = false
    if let expiry = record.expiry { edit.expiry = .set(expiry) }
    do throws(VaultError) {
      _ = try successor.withUnsafeBytes { (bytes) throws(VaultError) in
        try vault.transaction(service: record.service, in: group) { (batch) throws(VaultError) in
          batch.keeping = .nothing
          try batch.set(
            bytes.bytes, kind: record.kind, forKey: record.key.text, edit: edit, ifRevision: record.revision)
        }
      }
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
    vault.recordChange(by: Self.self, messages)
    return true
  }

  private func write(_ code: borrowing SecretBytes, _ members: JSON, to output: SecretOutput) throws {
    let (before, after) = vault.json ? (members.text.dropLast() + ",\"code\":\"", "\"}\n") : ("", "\n")
    try output.write(String(before))
    try code.withUnsafeBytes { bytes in Result { () throws(ToolError) in try output.writeEscaped(bytes) } }.get()
    try output.write(after)
    try output.flush()
  }
}
