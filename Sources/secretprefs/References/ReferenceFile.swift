internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// Reads files with references.
enum ReferenceFile {
  /// Reads a file, or a pipe that has a path.
  ///
  /// - Parameter what: What the file is, for errors.
  static func read(_ path: String, atMost limit: Int, _ what: String) throws -> SecretBytes {
    try refuseDash(reading: path, as: "the \(what)")
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY) { .io("\(path): open the \(what)", $0) }
    defer { extendLifetime(file) }
    return try read(file.raw, atMost: limit, "\(path): read the \(what)", "\(path): the \(what)")
  }

  static func read(_ descriptor: Int32, atMost limit: Int, _ step: String, _ what: String) throws -> SecretBytes {
    let text: SecretBytes
    do { text = try ValueReader.read(descriptor, atMost: limit, step) } catch let error as VaultError {
      guard error.code == .valueTooLarge else { throw error }
      throw PreferencesError(.limitExceeded, "\(what) has more than \(limit) bytes")
    }
    // No reference would be found in it.
    guard !text.withUnsafeBytes(isUTF16) else {
      throw PreferencesError(.malformed, "\(what) is UTF-16: convert it to UTF-8")
    }
    return text
  }

  /// Whether a text has the mark of UTF-16, or a reference in UTF-16 of either byte order: the first of its characters
  /// has a NUL byte behind it, and every second byte is the next one.
  private static func isUTF16(_ text: UnsafeRawBufferPointer) -> Bool {
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) { return true }
    var rest = text[...]
    while let nul = rest.firstIndex(of: 0) {
      rest = rest[(nul + 1)...]
      let characters = stride(from: max(nul - 1, 0), to: text.count, by: 2).lazy.map { text[$0] }
      if SecretReference.isMeant(characters) { return true }
    }
    return false
  }
}
