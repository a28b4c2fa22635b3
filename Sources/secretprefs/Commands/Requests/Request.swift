internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A request for access: a public key, and perhaps a note. All of it is what its writer says.
struct Request {
  let publicKey: VaultIdentity.PublicKey
  let note: String
  let origin: Origin
  /// When it was left, in milliseconds since 1970-01-01 UTC: the time of the last change of a file.
  let time: Int64

  /// What a request is, and who the system says has left it.
  enum Origin {
    /// A file in a folder, and the user that it belongs to.
    case file(name: String, user: uid_t)
    /// A row of a table, and the role that has written it.
    case role(String)

    /// In messages.
    var text: String {
      switch self {
      case .file(_, let user): "user \(user)"
      case .role(let role): "role \(displayed(role))"
      }
    }

    var json: [(String, JSON)] {
      switch self {
      case .file(let name, let user): [("file", .string(name)), ("user", .unsigned(UInt64(user)))]
      case .role(let role): [("role", .string(role))]
      }
    }
  }

  init(publicKey: VaultIdentity.PublicKey, note: String, origin: Origin, time: Int64) {
    self.publicKey = publicKey
    self.note = note
    self.origin = origin
    self.time = time
  }

  /// The text of a file, which has the public key in its first line.
  static func text(_ publicKey: VaultIdentity.PublicKey, note: String) -> String {
    "\(publicKey)\n" + (note.isEmpty ? "" : note + "\n")
  }

  /// The most bytes of a file.
  private static let longest = KeyText.Form.publicKey.count + 1 + VaultIdentity.longestNote + 1

  /// Reads a file of the folder.
  /// - Throws: an error whose message says why the file is not a request. It has nothing of the content, which may be a
  ///   secret in the wrong place.
  init(_ name: String, in folder: Descriptor<VaultError>) throws {
    let file = try folder.open(name) { number in
      number == ELOOP ? Self.refusal("it is a symbolic link") : .io("open", number)
    }
    defer { extendLifetime(file) }
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else { throw Self.refusal("it is not a regular file") }
    guard status.st_size <= Self.longest else { throw Self.refusal("it is longer than \(Self.longest) bytes") }
    let text = try ValueReader.read(file.raw, atMost: Self.longest, "read")
    let form = KeyText.Form.publicKey
    let content = text.withUnsafeBytes { text -> String? in
      guard text.starts(with: form.prefix.utf8), text.count == form.count || text.dropFirst(form.count).first == 0x0A
      else { return nil }
      return String(decoding: text, as: UTF8.self)
    }
    guard let content else { throw Self.refusal("its first line is not a public key") }
    publicKey = try VaultIdentity.PublicKey(String(content.utf8.prefix(form.count)) ?? "")
    let rest = String(content.utf8.dropFirst(form.count + 1)) ?? ""
    note = rest.hasSuffix("\n") ? String(rest.dropLast()) : rest
    origin = .file(name: name, user: status.st_uid)
    // Who can write the file chooses it: any 64-bit number of seconds.
    let seconds = max(-1 << 50, min(Int64(status.st_mtim.tv_sec), 1 << 50))
    time = seconds * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
  }

  static func refusal(_ reason: String) -> VaultError { VaultError(.malformed, reason) }
}
