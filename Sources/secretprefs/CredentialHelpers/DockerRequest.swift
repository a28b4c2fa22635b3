internal import Preferences
internal import VaultCore
internal import VaultSealing

/// A login that docker stores, in guarded memory.
struct DockerRequest: ~Copyable {
  private struct Parts {
    let server: String
    let user: String
    /// Where the secret is.
    let secret: Range<Int>

    /// Decodes a request in place.
    init(_ bytes: UnsafeMutableRawBufferPointer) throws {
      let leaves: [JSONLeaf]
      do throws(PlainFault) {
        leaves = GuardedJSONParser.decoded(try GuardedJSONParser.leaves(of: bytes), in: bytes)
      } catch {
        throw error.error.about("the request")
      }
      func text(_ name: String) -> Range<Int>? { leaves.last { $0.path == [.name(name)] && $0.kind == .text }?.bytes }
      func words(_ name: String) -> String { String(decoding: bytes[text(name) ?? 0..<0], as: UTF8.self) }
      server = words("ServerURL")
      user = words("Username")
      guard !server.isEmpty else { throw DockerRefusal.noServer }
      guard !user.isEmpty else { throw DockerRefusal.noUser }
      guard !hasControlCharacter(user.utf8) else { throw DockerRefusal("the user name has a control character") }
      guard let secret = text("Secret") else { throw DockerRefusal("no credentials secret") }
      self.secret = secret
    }
  }

  private let bytes: SecretBytes
  private let parts: Parts

  /// - Throws: ``DockerRefusal`` if a part is missing; `malformed` if it is no JSON object.
  init(_ bytes: consuming SecretBytes) throws {
    var bytes = bytes
    parts = try bytes.withUnsafeMutableBytes { try Parts($0) }
    self.bytes = bytes
  }

  /// The address, as docker writes it. Not empty.
  var server: String { parts.server }
  /// Not empty, and without a control character.
  var user: String { parts.user }

  /// Lends the secret to `body`.
  func withSecret<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.withSpan { (bytes) throws(E) in try body(bytes.extracting(parts.secret)) }
  }
}
