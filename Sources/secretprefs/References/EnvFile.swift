internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// A file of `run --env-file`: a dotenv file (``DotenvFormat``) in which a value may be a reference.
///
/// It is in guarded memory, because plain values may be secrets, too.
final class EnvFile {
  /// The longest file, in bytes. A process has less room for its environment.
  static let longest = 1 << 20

  struct Entry {
    let name: String
    let line: Int
    let content: Content
    /// Why other programs read a different value; `nil` if they read the same.
    let doubt: String?
  }

  enum Content {
    /// The place of a plain value in the file.
    case plain(Range<Int>)
    case reference(SecretReference)
  }

  let path: String
  /// In the order of the file. The last of several with one name counts.
  let entries: [Entry]
  let problems: [ReferenceProblem]
  private let bytes: SecretBytes

  /// Reads the file. Bad lines are ``problems``.
  convenience init(_ path: String) throws {
    self.init(path, try ReferenceFile.read(path, atMost: Self.longest, "env file"))
  }

  init(_ path: String, _ bytes: consuming SecretBytes) {
    var bytes = bytes
    let (entries, problems) = bytes.withUnsafeMutableBytes(Self.parse)
    self.path = path
    self.entries = entries
    self.problems = problems.map { $0.in(path) }
    self.bytes = bytes
  }

  var hasReferences: Bool {
    entries.contains { if case .reference = $0.content { true } else { false } }
  }

  /// - Throws: The first problem, and how to see the others.
  func check() throws(ToolError) {
    guard let first = problems.first else { return }
    guard problems.count > 1 else { throw first.located }
    throw first.located.with(hint: "\"secretprefs check \(shellPath(path))\" lists all problems")
  }

  func withValue<R>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// Parses a file, and decodes its values in place. A bad line is a problem, and parsing goes on behind it.
  static func parse(_ bytes: UnsafeMutableRawBufferPointer) -> (entries: [Entry], problems: [ReferenceProblem]) {
    var parser = DotenvParser(bytes)
    var entries: [Entry] = []
    var problems: [ReferenceProblem] = []
    while true {
      do throws(PreferencesError) {
        guard let entry = try parser.nextEntry() else { break }
        do throws(ToolError) {
          guard !entry.name.hasPrefix("SECRETPREFS_") else { throw Self.ownSetting }
          let content = try content(of: UnsafeRawBufferPointer(bytes), at: entry.text)
          if case .reference = content, VariableName.isReserved(entry.name) { throw Self.reserved }
          entries.append(Entry(name: entry.name, line: entry.line, content: content, doubt: entry.doubt))
        } catch { problems.append(ReferenceProblem(line: entry.line, name: entry.name, error)) }
      } catch {
        let failure = parser.failure
        let line = ToolError(VaultError(.malformed, failure.reason), hint: Self.form)
        problems.append(ReferenceProblem(line: failure.line, name: nil, line))
        parser.skipLine()
      }
    }
    return (entries, problems)
  }

  /// Whether a value is read as it is: it is no reference, has none, and is none of another program.
  static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
    do throws(ToolError) {
      if case .plain = try content(of: value, at: 0..<value.count) { return true }
    } catch {}  // a part of it is a reference
    return false
  }

  private static func content(of bytes: UnsafeRawBufferPointer, at range: Range<Int>) throws(ToolError) -> Content {
    let text = bytes[range]
    if SecretReference.isMeant(text) {
      do throws(SecretReference.Fault) { return .reference(try SecretReference(text)) } catch { throw error.error }
    }
    // Passed on, it would be a wrong value that no error shows.
    guard text.firstRange(of: Array(SecretReference.scheme.utf8)) == nil else {
      throw ToolError(VaultError(.malformed, "a reference inside a longer value"), hint: Self.inside)
    }
    if let program = ForeignReference.name(of: text) {
      throw ToolError(VaultError(.malformed, "this is \(program), and no value"), hint: Hints.import)
    }
    return .plain(range)
  }

  private static let ownSetting = ToolError(
    VaultError(.malformed, "a command does not get the settings of this tool"),
    hint: "set the variable for secretprefs itself, outside of the file")
  private static let reserved = ToolError(
    VaultError(.malformed, "programs read this variable as a setting, which changes what they run"),
    hint: "give the value of the vault a variable with a different name")
  static let form = "each line is NAME=value, NAME=secret://service/key, a comment or empty"
  private static let inside =
    "a reference is the whole value, without braces; \"secretprefs inject\" fills references in longer text"
}
