/// What went wrong while keys were made or something was sealed or opened.
///
/// The text names the part concerned and never holds key material, a passphrase or a value.
public struct SealingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure; callers match this, not the text.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Key text is not exactly what `Docs/Format.md` 2.5 asks for.
    public static let invalidKeyText = Code(rawValue: "invalidKeyText")
    /// A passphrase is empty or longer than 4096 bytes.
    public static let invalidPassphrase = Code(rawValue: "invalidPassphrase")
    /// An Argon2id cost lies outside the bounds of `Docs/Format.md` 3.10.
    public static let kdfRefused = Code(rawValue: "kdfRefused")
    /// Argon2id could not get the memory that its cost asks for.
    public static let kdfMemory = Code(rawValue: "kdfMemory")
    /// No guarded page could be had from the system.
    public static let guardedMemory = Code(rawValue: "guardedMemory")
    /// The system gives no random bytes.
    public static let randomBytes = Code(rawValue: "randomBytes")
  }

  /// The kind of failure.
  public let code: Code
  /// One line that says which part is concerned.
  public let message: String

  /// - Parameter message: one line without secret bytes.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(code.rawValue): \(message)" }
}
