internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore

// The candidates that a completion script requests (`secretprefs ---completion …`). The command line so far and the
// environment name the vault and its credential. After any error there are no candidates and no message.
extension CompletionKind {
  /// The ids of the slots, which are read without a credential.
  static let slots = candidates { line throws in
    let access = try line.vault.access()
    return try access.info().slots.map(\.id.short)
  }

  /// The public keys of the requests for the vault.
  static let requests = candidates { line throws in
    let place = try line.vault.access().location.requests(isShared: false)
    return try place.contents().requests.map(\.publicKey.description)
  }

  static let groups = candidates { line throws in try line.open()?.groups().map(\.name.text).sorted() ?? [] }

  static let services = candidates { line throws in
    guard let vault = try line.open() else { return [] }
    let services = try vault.records(in: try line.record.place().group(in: vault)).map(\.service.text)
    return services.enumerated().filter { $0.offset == 0 || $0.element != services[$0.offset - 1] }.map(\.element)
  }

  /// The keys of the service, or references.
  static let keys = CompletionKind.custom { words, index, _ in
    do {
      let line = try IncompleteLine(words, at: index)
      return try line.keys(for: words.indices.contains(index) ? words[index][...] : "").compactMap(candidate)
    } catch { return [] }
  }

  /// A key behind the name of a variable: `NAME=key`.
  static let variables = CompletionKind.custom { words, index, _ in
    guard words.indices.contains(index), let end = words[index].firstIndex(of: "=") else { return [] }
    let name = words[index][...end]
    do {
      let line = try IncompleteLine(words, at: index)
      return try line.keys(for: words[index][end...].dropFirst()).compactMap { candidate(name + $0) }
    } catch { return [] }
  }

  private static func candidates(_ names: @escaping @Sendable (IncompleteLine) throws -> [String]) -> CompletionKind {
    .custom { words, index, _ in
      do { return try names(try IncompleteLine(words, at: index)).compactMap(candidate) } catch { return [] }
    }
  }

  /// A name in the form that the shell's script expects. `nil` for a name that looks like an option, misleads a reader
  /// or contains what a shell expands: bash does not quote a dollar sign that it inserts.
  private static func candidate(_ name: String) -> String? {
    let isPlain = name.unicodeScalars.allSatisfy { !isMisleading($0) && $0 != "$" && $0 != "`" && $0 != "!" }
    guard isPlain, !name.hasPrefix("-") else { return nil }
    return switch CompletionShell.requesting {
    // The script evaluates quotes and backslashes.
    case .bash: "'" + replacing("'", in: name, with: #"'\''"#) + "'"
    // In a candidate, a colon begins its description.
    case .zsh: replacing(":", in: replacing(#"\"#, in: name, with: #"\\"#), with: #"\:"#)
    default: name
    }
  }

  private static func replacing(_ character: Character, in text: String, with replacement: String) -> String {
    text.split(separator: character, omittingEmptySubsequences: false).joined(separator: replacement)
  }
}

/// The options on a command line whose word at the cursor is not complete.
private struct IncompleteLine: ParsableArguments {
  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions
  @Argument(parsing: .allUnrecognized) var others: [String] = []

  init() {}

  init(_ words: [String], at index: Int) throws {
    var words = words.map(Self.unquoted)
    // Any text: what is parsed as the value of an option is not used when that option is completed.
    if words.indices.contains(index) { words[index] = "x" } else { words.append("x") }
    self = try Self.parse(Array(words.dropFirst()))
  }

  /// A word as the shell would pass it: bash and zsh give a completion the words as they are typed.
  private static func unquoted(_ word: String) -> String {
    let shell = CompletionShell.requesting
    guard shell == .bash || shell == .zsh else { return word }
    do throws(ToolError) {
      let words = try ShellWords.split(word, of: "the word")
      return words.count == 1 ? words[0] : word
    } catch { return word }
  }

  /// What a key can be completed to: the keys of the service, or all references if `word` is the beginning of one.
  func keys(for word: Substring) throws -> [String] {
    guard let vault = try open() else { return [] }
    guard word.hasPrefix("secret:") else {
      let place = try record.place()
      return try vault.keys(service: place.service, in: try place.group(in: vault))
    }
    return try ListedRecord.all(service: nil, in: try vault.groupsInOrder(), of: vault).map(\.reference.text)
  }

  /// Opens the vault. `nil` if that needs a prompt, a program, which may prompt, or a descriptor, which would be one of
  /// the shell.
  func open() throws -> Vault? {
    guard unlock.credential.passphraseFd == nil, unlock.credential.passphraseCommand == nil,
      getenv(PassphraseCommand.variable) == nil
    else { return nil }
    var access = try unlock.complete(try vault.access())
    access.lockTimeout = .zero
    access.keptKeyUse = .look
    return try access.openIfConfigured(Messages(isJSON: false))?.vault
  }
}
