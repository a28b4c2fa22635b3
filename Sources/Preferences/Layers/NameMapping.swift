/// Maps the names of a view to the names of the underlying reader, and back.
enum NameMapping: Sendable {
  case identity
  /// `port` is `server.port` underneath.
  case below(String)
  /// `secrets.token` is `token` underneath; names without the prefix do not exist.
  case mounted(String)
  /// Some names have a different name underneath.
  case renamed(underneath: [PreferenceName: PreferenceName], above: [PreferenceName: PreferenceName])

  /// - Parameter names: the underlying name of each renamed key. Two keys never name the same value.
  /// - Throws: `invalidKey` if two keys have the same underlying name.
  static func renaming(_ names: [String: String]) throws(PreferencesError) -> Self {
    var underneath: [PreferenceName: PreferenceName] = [:]
    var above: [PreferenceName: PreferenceName] = [:]
    for (key, other) in names {
      let (key, other) = (try PreferenceName(key), try PreferenceName(other))
      guard above.updateValue(key, forKey: other) == nil else {
        throw PreferencesError(.invalidKey, "two keys are called \"\(other)\" underneath")
      }
      underneath[key] = other
    }
    return .renamed(underneath: underneath, above: above)
  }

  var isIdentity: Bool { if case .identity = self { true } else { false } }

  /// Whether every underlying key has a name in the view, so that emptying the view empties the reader.
  var showsEverything: Bool {
    switch self {
    case .identity: true
    case .below(let prefix): prefix.isEmpty
    case .mounted: true
    case .renamed(let underneath, let above): underneath.keys.allSatisfy { above[$0] != nil }
    }
  }

  /// The underlying name of a key; `nil` if the key does not exist in the view.
  func underneath(_ name: PreferenceName) throws(PreferencesError) -> PreferenceName? {
    switch self {
    case .identity: return name
    case .below(let prefix):
      let long = prefix + name.text
      // An accent at the beginning would combine with the last letter of the prefix: the key would not be below it.
      guard Self.without(prefix, long) == name.text else {
        throw PreferencesError(.invalidKey, "key \"\(name)\": it does not begin with a character of its own")
      }
      return try PreferenceName(long)
    case .mounted(let prefix): return Self.without(prefix, name.text).map { PreferenceName(checked: $0) }
    case .renamed(let underneath, let above): return underneath[name] ?? (above[name] == nil ? name : nil)
    }
  }

  /// The name in the view of an underlying key; `nil` if the key does not exist in the view.
  func above(_ name: PreferenceName) -> PreferenceName? {
    switch self {
    case .identity: return name
    case .below(let prefix): return Self.without(prefix, name.text).map { PreferenceName(checked: $0) }
    case .mounted(let prefix):
      let long = prefix + name.text
      guard Self.without(prefix, long) == name.text, PreferenceName.isValid(long) else { return nil }
      return PreferenceName(checked: long)
    case .renamed(let underneath, let above): return above[name] ?? (underneath[name] == nil ? name : nil)
    }
  }

  private static func without(_ prefix: String, _ text: String) -> String? {
    // Compares strings, as names do: a comparison of bytes would distinguish composed and decomposed accents.
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    return rest.isEmpty ? nil : String(rest)
  }
}

extension NameMapping {
  /// Distinguishes the identities of two views of one reader.
  var text: String {
    switch self {
    case .identity: ""
    case .below(let prefix): "below \(prefix)"
    case .mounted(let prefix): "mounted \(prefix)"
    case .renamed(let underneath, _):
      underneath.sorted { $0.key < $1.key }.map { "\($0.key.text)\u{0}\($0.value.text)" }.joined(
        separator: "\u{0}\u{0}")
    }
  }
}
