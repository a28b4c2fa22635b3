// A store over a file lists the entries of a dictionary, such as `server.port`, because its dots lead into it. A copy
// by these names would have no value `server`, from which a program reads a struct.

extension PreferencesReader {
  /// The plain values by the names under which they are whole: a listed name that leads into a dictionary is included
  /// with the dictionary, and beside it if a lookup of the name returns something else.
  package func wholeValues() throws -> [PreferenceName: PreferenceValue] {
    guard custody.holds(.plain) else { return [:] }
    var whole: [PreferenceName: PreferenceValue] = [:]
    var enclosing: [PreferenceName: PreferenceValue?] = [:]
    for name in try names(of: .plain) {
      guard let value = try value(for: PreferenceQuery(name)) else { continue }
      let around = try value.dictionaries(around: name) { outer in
        if let known = enclosing[outer] { return known }
        let found = try wholeValue(of: outer)
        enclosing[outer] = .some(found)
        return found
      }
      for outer in around { whole[outer.name] = outer.value }
      if around.last?.isFound != true { whole[name] = value }
    }
    return whole
  }

  /// The value that a lookup by this name returns; `nil` if the lookup is a secret one.
  private func wholeValue(of name: PreferenceName) throws -> PreferenceValue? {
    guard custody.secrecy(of: name, asked: .plain) == .plain else { return nil }
    return try value(for: PreferenceQuery(name))
  }

  /// The edits that store all values of this reader in `target`, whole, so that `target` then returns them by every
  /// name by which this reader returns them.
  ///
  /// - Throws: what reading both throws.
  package func copyingEdits(into target: some PreferencesReader) throws -> PreferenceEdits {
    let custody = custody
    var edits = PreferenceEdits()
    edits.isUnordered = true
    let whole = try wholeValues()
    for (name, value) in whole { edits.append(.init(name, to: .value(value))) }
    for name in custody.holds(.plain) ? try names(of: .plain) : [] where whole[name] == nil {
      // A value beside the dictionary, such as `server.port` beside `server`, would hide the entry of the dictionary.
      guard let hiding = try target.wholeValue(of: name),
        try hiding.dictionaries(around: name, lookUp: target.wholeValue).last?.isFound != true,
        let value = try value(for: PreferenceQuery(name))
      else { continue }
      edits.append(.init(name, to: .value(value)))
    }
    for name in custody.holds(.secret) ? try names(of: .secret) : [] {
      guard let content = try content(for: PreferenceQuery(name, secrecy: .secret)) else { continue }
      edits.append(.init(name, to: content, secrecy: .secret))
    }
    return edits
  }
}

extension PreferenceValue {
  /// Returns the dictionaries around this value, which is called `name`: from the outermost to the first in which the
  /// value is found by the dots of the name.
  fileprivate func dictionaries(
    around name: PreferenceName, lookUp: (PreferenceName) throws -> PreferenceValue?
  ) throws -> [(name: PreferenceName, value: PreferenceValue, isFound: Bool)] {
    let text = name.text
    var around: [(name: PreferenceName, value: PreferenceValue, isFound: Bool)] = []
    for dot in text.indices where text[dot] == "." && PreferenceName.isValid(String(text[..<dot])) {
      let outer = PreferenceName(checked: String(text[..<dot]))
      guard case .dictionary(let members)? = try lookUp(outer) else { continue }
      let isFound = NestedValues.find(text[text.index(after: dot)...], in: members)?.isIdentical(to: self) == true
      around.append((outer, .dictionary(members), isFound))
      if isFound { break }
    }
    return around
  }
}
