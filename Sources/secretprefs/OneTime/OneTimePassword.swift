internal import VaultCore
internal import VaultSealing

/// Makes the one-time codes of a value: an `otpauth` URI or one of the forms of ``OneTimeURI``, on a line of its own,
/// or a secret in base32.
final class OneTimePassword {
  /// What distinguishes one code from the next.
  enum Factor {
    /// The number of seconds that a code is valid for (TOTP, RFC 6238).
    case time(period: UInt64)
    /// The number of the code (HOTP, RFC 4226).
    case counter(UInt64)
  }

  /// The shortest secret without a URI, in bytes. Shorter text is more likely a password.
  static let shortestSecret = 10

  private static let steamCharacters = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)

  let factor: Factor
  /// The value with the number of the next code. `nil` if codes depend on the time.
  let successor: GuardedBuffer?
  private let secret: SecretBytes
  private let digest: MessageDigest
  private let digits: Int
  private let isSteam: Bool

  init(_ value: UnsafeRawBufferPointer) throws {
    guard let uri = try OneTimeURI(in: value) else {
      guard let secret = try Base32.decode(trimmed(value[...])), secret.count >= Self.shortestSecret else {
        throw ToolError.oneTime("the value is neither an otpauth URI nor a secret in base32")
      }
      self.secret = secret
      factor = .time(period: 30)
      successor = nil
      digest = .sha1
      digits = 6
      isSteam = false
      return
    }
    guard let text = try uri.parameter("secret"), let secret = try Base32.decode(text), secret.count > 0 else {
      throw ToolError.oneTime("the otpauth URI has no secret in base32")
    }
    self.secret = secret
    digest = try Self.digest(try uri.parameter("algorithm"))
    isSteam = uri.isOfSteam
    guard try uri.parameter("encoder").map({ matches($0, "steam") }) ?? true else {
      throw ToolError.oneTime("the encoder of the otpauth URI is not steam")
    }
    digits = Int(try uri.number("digits", in: 1...10) ?? (isSteam ? 5 : 6))
    if uri.type.map({ matches($0, "totp") }) ?? true {
      factor = .time(period: try uri.number("period", in: 1...86_400) ?? 30)
      successor = nil
    } else if uri.type.map({ matches($0, "hotp") }) ?? false {
      guard let text = try uri.parameter("counter"), let counter = try uri.number("counter", in: 0...(.max - 1)) else {
        throw ToolError.oneTime("the otpauth URI has no counter")
      }
      let successor = try GuardedBuffer()
      try successor.append(UnsafeRawBufferPointer(rebasing: value[..<text.startIndex]))
      try successor.append("\(counter + 1)")
      try successor.append(UnsafeRawBufferPointer(rebasing: value[text.endIndex...]))
      factor = .counter(counter)
      self.successor = successor
    } else {
      throw ToolError.oneTime("the type of the otpauth URI is not totp, hotp or steam")
    }
  }

  /// Returns the code with this number, in ASCII.
  func code(_ number: UInt64) throws(VaultError) -> SecretBytes {
    let message = withUnsafeBytes(of: number.bigEndian, Array.init)
    var rest = try digest.code(of: message, key: secret).withUnsafeBytes { code in
      let offset = Int(code[code.count - 1] & 15)
      return code.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian & 0x7FFF_FFFF
    }
    var text = try SecretBytes(count: digits)
    text.withUnsafeMutableBytes { text in
      if isSteam {
        for index in text.indices {
          text[index] = Self.steamCharacters[Int(rest % 26)]
          rest /= 26
        }
      } else {
        for index in text.indices.reversed() {
          text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
      }
    }
    return text
  }

  private static func digest(_ name: OneTimeURI.Part?) throws(ToolError) -> MessageDigest {
    guard let name else { return .sha1 }
    // KeePass writes HMAC-SHA-256, and others SHA-256.
    let word = name.filter { $0 != UInt8(ascii: "-") }
    for prefix in ["", "HMAC"] {
      if matches(word, prefix + "SHA1") { return .sha1 }
      if matches(word, prefix + "SHA256") { return .sha256 }
      if matches(word, prefix + "SHA512") { return .sha512 }
    }
    throw .oneTime("the algorithm of the otpauth URI is not SHA1, SHA256 or SHA512")
  }
}
