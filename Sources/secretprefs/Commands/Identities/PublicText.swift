internal import DurableFiles
internal import VaultCore

/// A public key or a pin in an argument, or on standard input.
enum PublicText {
  static func publicKey(_ argument: String) throws -> VaultIdentity.PublicKey {
    do { return try VaultIdentity.PublicKey(try read(argument)) } catch let error as VaultError {
      throw explained(error, hint: "\"secretprefs identity show\" prints the public key of an identity")
    }
  }

  static func pin(_ argument: String) throws -> VaultPin {
    do { return try VaultPin(try read(argument)) } catch let error as VaultError {
      throw explained(error, hint: pinHint)
    }
  }

  /// The pin in the value of `--trust`.
  static func trusted(_ text: String?) throws(ToolError) -> VaultPin? {
    do throws(VaultError) { return try text.map { (text) throws(VaultError) in try VaultPin(text) } } catch {
      throw explained(error, hint: pinHint)
    }
  }

  static let pinHint = "\"secretprefs slots pin\" prints the pin of a vault"

  private static func explained(_ error: VaultError, hint: String) -> ToolError {
    guard error.code == .invalidKeyText else { return ToolError(error) }
    return ToolError(error, hint: hint)
  }

  /// - Parameter argument: the text, or "-" for standard input.
  private static func read(_ argument: String) throws -> String {
    guard argument == "-" else { return argument }
    // In guarded memory, because it may be a secret in the wrong place.
    let text = try ValueReader.read(STDIN_FILENO, atMost: 255, "standard input")
    return text.withUnsafeBytes { text in
      // Of a secret, only the prefix leaves it, which says what was given.
      let secrets = [KeyText.Form.identity.prefix, KeyText.Form.key.prefix]
      return secrets.first { text.starts(with: $0.utf8) } ?? String(decoding: text, as: UTF8.self)
    }
  }
}
