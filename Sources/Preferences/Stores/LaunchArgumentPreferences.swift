internal import DurableFiles

/// Preferences from the launch arguments of the program, read-only.
///
/// The key `server.port` is `--server.port=8080`, `--server.port 8080`, or either with one dash. The argument after an
/// option is its value unless it begins with a dash; a negative number is still a value. An option without a value is
/// `true`, so write `--verbose=true` before an argument that is not an option. The last of repeated options counts.
/// Other arguments, and everything after `--`, are skipped. Names are used as written. A value is parsed as
/// ``PreferenceValue/init(parsing:as:)`` describes.
///
/// Every user of the machine can read arguments: never pass a secret in one.
public struct LaunchArgumentPreferences: PreferencesReader, TextReader {
  public let name: String
  private let texts: [String: String]
  private let undecodable: Set<String>

  /// Creates a reader of `arguments`, without the program's name; `nil` means the arguments of this process.
  public init(_ arguments: [String]? = nil, name: String = "launch arguments") {
    self.name = name
    let own = launchArguments.dropFirst().compactMap(\.self)
    let options = Self.options(
      in: arguments?.map { ($0, true) } ?? own.map { (String(cString: $0), String(validatingCString: $0) != nil) })
    texts = options.texts
    undecodable = options.undecodable
  }

  func text(forKey key: String) throws(PreferencesError) -> String? {
    guard !undecodable.contains(key) else {
      throw PreferencesError(.malformed, "\(textName(forKey: key)) is not UTF-8").about(key: key)
    }
    return texts[key]
  }

  func textName(forKey key: String) -> String { "the argument" }

  /// The names of the options, in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(texts.keys.sorted()) }

  /// - Parameter arguments: the arguments, and whether each is UTF-8. If it is not, U+FFFD replaces the bytes that are
  ///   none, and its option is an error, because a changed password would be worse.
  private static func options(in arguments: [(text: String, isUTF8: Bool)]) -> (
    texts: [String: String], undecodable: Set<String>
  ) {
    var texts: [String: String] = [:]
    var undecodable: Set<String> = []
    var rest = arguments.prefix { $0.text != "--" }
    while let (argument, isUTF8) = rest.popFirst() {
      var isWhole = isUTF8
      guard isOption(argument) else { continue }
      let option = argument.drop { $0 == "-" }
      let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      var text = parts.count == 2 ? String(parts[1]) : "true"
      if parts.count == 1, let next = rest.first, !isOption(next.text) {
        rest.removeFirst()
        text = next.text
        isWhole = isWhole && next.isUTF8
      }
      let name = String(parts[0])
      texts[name] = text
      if isWhole { undecodable.remove(name) } else { undecodable.insert(name) }
    }
    return (texts, undecodable)
  }

  private static func isOption(_ argument: String) -> Bool {
    let name = argument.drop { $0 == "-" }
    let dashes = argument.count - name.count
    guard dashes == 1 || dashes == 2, let first = name.first else { return false }
    // `-5` and `-.5` are numbers.
    return dashes == 2 || !(first.isNumber || first == ".") || PreferenceValue(parsing: argument, as: .double) == nil
  }
}

extension LaunchArgumentPreferences: CustomStringConvertible, CustomReflectable {}
