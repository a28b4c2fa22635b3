internal import ArgumentParser

/// The options of the fast path. The argument parser takes their names from here.
enum FastPathOption: String {
  case vault, service, group
  case keyFile = "key-file"
  case noPrompt = "no-prompt"

  /// `nil` for any other word.
  init?(_ word: String) {
    guard word.hasPrefix("--") else { return nil }
    self.init(rawValue: String(word.dropFirst(2)))
  }

  var name: NameSpecification { [.customLong(rawValue)] }
}

/// Parses the common forms of `get` and `list` without the argument parser, whose startup takes more than half of the
/// time of a short command.
///
/// Arguments that it does not understand completely go to the argument parser, which also reports errors. There is no
/// dictionary here because the first use of one costs 0.1 ms.
struct FastPath {
  private var key: String?
  private var vault: String?
  private var service: String?
  private var group: String?
  private var keyFile: String?
  private var noPrompt = false

  static func parse(_ arguments: Arguments) -> (any ToolAction)? {
    guard let command = arguments.words.first, command == "get" || command == "list",
      let plain = FastPath(arguments.words.dropFirst()), (plain.key != nil) == (command == "get")
    else { return nil }
    do { return try plain.action() } catch {
      return nil  // the argument parser's path finds the same error and reports it
    }
  }

  private init?(_ words: ArraySlice<String>) {
    var words = words
    while let word = words.popFirst() {
      let isUnderstood =
        switch FastPathOption(word) {
        case .noPrompt: Self.note(&noPrompt)
        case .vault: Self.take(&words, into: &vault)
        case .service: Self.take(&words, into: &service)
        case .group: Self.take(&words, into: &group)
        case .keyFile: Self.take(&words, into: &keyFile)
        case nil: Self.take(word, into: &key)
        }
      guard isUnderstood else { return nil }
    }
  }

  private func action() throws -> (any ToolAction)? {
    var access = try VaultAccess(try VaultLocation(option: vault))
    access.keyFile = keyFile
    access.mayPrompt = !noPrompt
    let place = try RecordPlace(service: service, group: group)
    guard let key else { return ListKeys(access: access, place: place) }
    guard !SecretReference.isMeant(key.utf8) else { return nil }
    return GetValue(access: access, place: place, key: key)
  }

  private static func note(_ flag: inout Bool) -> Bool {
    flag = true
    return true
  }

  private static func take(_ words: inout ArraySlice<String>, into place: inout String?) -> Bool {
    guard let word = words.popFirst() else { return false }
    return take(word, into: &place)
  }

  /// Stores a word that is neither an option nor empty. Fails if there is one already.
  private static func take(_ word: String, into place: inout String?) -> Bool {
    guard place == nil, !word.isEmpty, !word.hasPrefix("-") else { return false }
    place = word
    return true
  }
}
