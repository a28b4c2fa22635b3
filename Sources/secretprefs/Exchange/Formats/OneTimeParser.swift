internal import DurableFiles

/// A text with one URI of one-time codes in each line, as authenticators export it and readers of QR codes print it:
/// `otpauth://`, or `otpauth-migration://` of Google Authenticator, which has several accounts.
///
/// The keys are `<issuer>/<account>/totp`, or `hotp` for codes with a counter.
struct OneTimeParser {
  private static let uri = "otpauth://"
  private static let migration = "otpauth-migration://"
  /// What zbarimg prints in front of a text.
  private static let mark = "QR-Code:"

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()
  /// The QR codes of each export in several, by its number, and how many there are.
  private var batches: [UInt64: (size: UInt64, found: Set<UInt64>)] = [:]

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = OneTimeParser(bytes: bytes)
    var text = InputText(bytes)
    while text.next != nil {
      let (line, start) = (text.line, text.position)
      text.skip { $0 != UInt8(ascii: "\n") }
      let range = start..<text.position
      _ = text.take()
      do throws(PlainFault) { try parser.add(line: line, range) } catch {
        guard !error.isFatal else { throw error }
        try parser.records.refuse(error)
      }
    }
    for (_, batch) in parser.batches.sorted(by: { $0.key < $1.key }) where UInt64(batch.found.count) < batch.size {
      try parser.records.note("\(batch.found.count) of the \(batch.size) QR codes of an export: import the others, too")
    }
    return parser.records
  }

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  private mutating func add(line: Int, _ range: Range<Int>) throws(PlainFault) {
    var text = trimmed(UnsafeRawBufferPointer(bytes)[range])
    if matches(text.prefix(Self.mark.utf8.count), Self.mark) { text = text.dropFirst(Self.mark.utf8.count) }
    if text.isEmpty || text.first == UInt8(ascii: "#") { return }
    if matches(text.prefix(Self.migration.utf8.count), Self.migration) { return try add(migration: text, line: line) }
    guard matches(text.prefix(Self.uri.utf8.count), Self.uri) else {
      return try records.refuse(PlainFault(line: line, reason: "no otpauth URI"))
    }
    let rest = text.dropFirst(Self.uri.utf8.count)
    let type = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    let label = rest.dropFirst(type.count).drop { $0 == UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "?") }
    guard let word = ["totp", "hotp", "steam"].first(where: { matches(type, $0) }) else {
      return try records.refuse(PlainFault(line: line, reason: "a type of codes that is not totp, hotp or steam"))
    }
    // What "otp" makes no codes of is no account.
    do { _ = try OneTimePassword(UnsafeRawBufferPointer(rebasing: text)) } catch let error as ToolError {
      return try records.refuse(PlainFault(line: line, reason: error.message))
    } catch { throw PlainFault(line: line, reason: "the otpauth URI cannot be read") }
    try records.add(
      entry: name(try words(label, line), issuer: try issuer(text, line)),
      [PlainRecords.Field(word == "hotp" ? "hotp" : "totp", text.indices, isSecret: true)], line: line)
  }

  private func issuer(_ uri: OneTimeURI.Part, _ line: Int) throws(PlainFault) -> String {
    try parameter("issuer=", of: uri).map { (part) throws(PlainFault) in try words(part, line) } ?? ""
  }

  /// The value of the first parameter with a name, which ends with its sign. Makes no list of the parameters, which may
  /// be very many.
  private func parameter(_ name: String, of uri: OneTimeURI.Part) -> OneTimeURI.Part? {
    var rest = uri.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    while !rest.isEmpty {
      let part = rest.prefix { $0 != UInt8(ascii: "&") }
      if matches(part.prefix(name.utf8.count), name) { return part.dropFirst(name.utf8.count) }
      rest = rest.dropFirst(part.count + 1)
    }
    return nil
  }

  /// A label without its percent-encoding, which is not secret.
  private func words(_ part: OneTimeURI.Part, _ line: Int) throws(PlainFault) -> String {
    guard part.count <= 3 * InputText.longestName else { throw .limit("a label that is too long", line: line) }
    var copy = Array(part)
    let count = copy.withUnsafeMutableBytes { DecodedText.percent(0..<$0.count, in: $0)?.count }
    return String(decoding: copy.prefix(count ?? copy.count), as: UTF8.self)
  }

  /// The name of an entry: `issuer/account`. A label may have the issuer in front of a colon.
  private func name(_ label: String, issuer: String) -> String {
    let parts = label.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
    let account = parts.last.map(String.init) ?? ""
    let issuer = issuer.isEmpty && parts.count == 2 ? String(parts[0]) : issuer
    return [issuer, account].map(PlainRecords.title).filter { !$0.isEmpty }.joined(separator: "/")
  }

  // MARK: Google Authenticator

  private mutating func add(migration text: OneTimeURI.Part, line: Int) throws(PlainFault) {
    guard let data = parameter("data=", of: text), let spelled = DecodedText.percent(data.indices, in: bytes),
      let range = DecodedText.base64(spelled, in: bytes)
    else { return try records.refuse(PlainFault(line: line, reason: "a migration without accounts in Base64")) }
    var message = ProtobufParser(range, in: bytes)
    var count = 0
    // 1 an account, 3 the number of QR codes, 4 the number of this one from 0, 5 that of the export.
    var numbers: [UInt64: UInt64] = [:]
    while let field = message.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let account)):
        count += 1
        try add(account: account, line: line)
      case (let number, .number(let value)): numbers[number] = value
      default: break
      }
    }
    guard message.isWhole, count > 0 else {
      return try records.refuse(PlainFault(line: line, reason: "a migration whose accounts cannot be read"))
    }
    guard let size = numbers[3], size > 1 else { return }
    batches[numbers[5] ?? 0, default: (size, [])].found.insert(numbers[4] ?? 0)
  }

  /// Adds an account: 1 the secret, 2 the name, 3 the issuer, 4 the algorithm, 5 the digits, 6 the type, 7 the counter.
  private mutating func add(account: Range<Int>, line: Int) throws(PlainFault) {
    var message = ProtobufParser(account, in: bytes)
    var (secret, label, issuer) = (0..<0, "", "")
    var numbers: [UInt64: UInt64] = [:]
    while let field = message.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let range)): secret = range
      case (2, .bytes(let range)): label = String(decoding: bytes[range.prefix(InputText.longestName)], as: UTF8.self)
      case (3, .bytes(let range)): issuer = String(decoding: bytes[range.prefix(InputText.longestName)], as: UTF8.self)
      case (let number, .number(let value)): numbers[number] = value
      default: break
      }
    }
    let name = name(label, issuer: issuer)
    let algorithms: [UInt64: String] = [0: "SHA1", 1: "SHA1", 2: "SHA256", 3: "SHA512"]
    guard let algorithm = algorithms[numbers[4] ?? 0], numbers[6] != 0, (numbers[6] ?? 2) <= 2, !secret.isEmpty else {
      return try records.refuse(PlainFault(line: line, name: name, reason: "an account of a kind that is not known"))
    }
    let isTimed = (numbers[6] ?? 2) == 2
    let digits = numbers[5] == 2 ? 8 : 6
    let encoded = { (text: String) in PercentEncoding.encoded(text.utf8, keeping: "-._~:@") }
    let after =
      (issuer.isEmpty ? "" : "&issuer=\(encoded(issuer))") + "&algorithm=\(algorithm)&digits=\(digits)"
      + (isTimed ? "" : "&counter=\(numbers[7] ?? 0)")
    let type = isTimed ? "totp" : "hotp"
    try records.add(
      entry: name,
      [
        PlainRecords.Field(
          type, secret, spelling: .base32("otpauth://\(type)/\(encoded(label))?secret=", after), isSecret: true)
      ], line: line)
  }
}
