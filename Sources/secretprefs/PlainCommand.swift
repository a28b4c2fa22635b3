internal import ArgumentParser

/// The options that the quick path knows, under the names that the argument parser gets.
enum PlainOption: String {
  case vault, service, group
  case keyFile = "key-file"
  case noPrompt = "no-prompt"

  /// Nil when `word` is none of them.
  init?(_ word: String) {
    guard word.hasPrefix("--") else { return nil }
    self.init(rawValue: String(word.dropFirst(2)))
  }

  var name: NameSpecification { [.customLong(rawValue)] }
}

/// Understands the plainest forms of `get` and `list` without the argument parser, whose start costs a quick command
/// more than half of its time.
///
/// Anything it does not know in full is left to the parser, which then decides and refuses. No dictionary here: the
/// first use of one costs a tenth of a millisecond.
struct PlainCommand {
  private var key: String?
  private var vault: String?
  private var service: String?
  private var group: String?
  private var keyFile: String?
  private var noPrompt = false

  static func understand(_ arguments: Arguments) -> (any Work)? {
    guard let command = arguments.words.first, command == "get" || command == "list",
      let plain = PlainCommand(arguments.words.dropFirst()), (plain.key != nil) == (command == "get")
    else { return nil }
    do { return try plain.work() } catch {
      return nil  // the long way round finds the same, and says so
    }
  }

  private init?(_ words: ArraySlice<String>) {
    var words = words
    while let word = words.popFirst() {
      let isUnderstood =
        switch PlainOption(word) {
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

  private func work() throws -> any Work {
    var access = try VaultAccess(try VaultLocation(option: vault))
    access.keyFile = keyFile
    access.mayPrompt = !noPrompt
    let place = try RecordPlace(service: service, group: group)
    guard let key else { return ListKeys(access: access, place: place) }
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

  /// Takes a word that is neither an option nor empty, once.
  private static func take(_ word: String, into place: inout String?) -> Bool {
    guard place == nil, !word.isEmpty, !word.hasPrefix("-") else { return false }
    place = word
    return true
  }
}
