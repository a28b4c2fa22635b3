internal import Secrets
internal import VaultCore

/// The URL of a database, and the name of a vault in it behind `#`: `postgresql://host/database#vault`.
struct DatabaseURL {
  static let form = "postgresql://host/database#vault"
  private static let schemes = ["postgresql://", "postgres://"]

  /// The URL without the name of the vault, for libpq.
  let database: String
  /// The name of the vault, decoded; `nil` if there is none.
  let vault: String?

  /// `nil` for the path of a file. Such a path can begin with `./`, which a URL cannot.
  ///
  /// - Throws: A usage error without any part of the text, which may contain a password.
  init?(_ text: String) throws(ToolError) {
    guard Self.hasScheme(text) else { return nil }
    guard Self.schemes.contains(where: text.hasPrefix) else {
      throw .usage(
        "the vault is named by a URL that is not one of PostgreSQL",
        hint: "a vault is in a file, or in a database: \(Self.form)")
    }
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    database = String(parts[0])
    guard parts.count == 2, !parts[1].isEmpty else {
      vault = nil
      return
    }
    guard let name = Self.decoded(parts[1]) else {
      throw .usage("the name of the vault behind # is not encoded as in a URL", hint: "% is written as %25")
    }
    vault = name
  }

  /// The URL in `SECRETPREFS_VAULT`; `nil` if there is another text or none.
  static var ofEnvironment: DatabaseURL? {
    get throws(ToolError) {
      let text: String?
      // The variable is reported where it is used as a path.
      do throws(VaultError) { text = try Environment.text("SECRETPREFS_VAULT") } catch { return nil }
      return if let text { try DatabaseURL(text) } else { nil }
    }
  }

  /// Whether the text begins with letters and `://`, as no path does in practice, or nearly as a URL of PostgreSQL with
  /// a role, which may have a password; or is a list of parameters of libpq with a password.
  static func hasScheme(_ text: String) -> Bool {
    let start = text.lowercased().drop(while: \.isWhitespace)
    if ["postgres:", "postgresql:"].contains(where: start.hasPrefix), text.contains("@") { return true }
    if start.contains(/password\s*=/) { return true }
    let name = text.utf8.prefix { byte in
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
    }
    return name.first.map { (0x61...0x7A).contains($0 | 0x20) } == true
      && text.utf8.dropFirst(name.count).starts(with: "://".utf8)
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes = Array(text.utf8)
    return bytes.withUnsafeMutableBytes { bytes in
      DecodedText.percent(0..<bytes.count, in: bytes).flatMap { String(validating: bytes[$0], as: UTF8.self) }
    }
  }

  /// Adds what to do to the error of a URL that is refused.
  static func refusal(_ error: VaultError) -> ToolError {
    error.code == .invalidName
      ? .usage(error.message, hint: "a vault in it is named behind #: \(form)") : ToolError(error)
  }
}
