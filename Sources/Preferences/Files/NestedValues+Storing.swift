import FoundationEssentials

extension NestedValues {
  /// As ``find(_:in:)``, but parses a string if a URL or a date is looked up.
  ///
  /// - Parameter isText: whether strings are parsed as every kind.
  /// - Throws: `typeMismatch` if the string does not parse.
  package static func find(
    _ query: PreferenceQuery, in values: [String: PreferenceValue], isText: Bool
  ) throws(PreferencesError) -> PreferenceValue? {
    let value = find(query.name.text, in: values)
    guard let kind = query.kind, isText || kind == .url || kind == .date, case .string(let text) = value else {
      return value
    }
    if let value = PreferenceValue(parsing: text, as: kind) { return value }
    throw .unparsable("the string", as: kind, key: query.name.text)
  }

  /// Stores a value where ``find(_:in:)`` finds it: in its previous place or, if it is new, in the innermost dictionary
  /// that its name leads into. A value that this package keeps for itself is stored at the top level, because a program
  /// reads its dictionaries whole.
  static func store(
    _ value: PreferenceValue, under key: some StringProtocol, in values: inout [String: PreferenceValue]
  ) {
    let name = String(key)
    guard values[name] == nil, !PreferenceName.isOwn(name), let dot = key.firstIndex(of: "."),
      case .dictionary(var inner) = values[String(key[..<dot])]
    else {
      values[name] = value
      return
    }
    store(value, under: key[key.index(after: dot)...], in: &inner)
    values[String(key[..<dot])] = .dictionary(inner)
  }

  /// The path of a value such as `a.b` beside a dictionary `a`, in which ``store(_:under:in:)`` would store it if it
  /// were new: the names of the enclosing dictionaries, then the value's own name. `nil` for any other value.
  static func placeBesideDictionary(of key: String, in values: [String: PreferenceValue]) -> [String]? {
    // Stored at the top level by ``store(_:under:in:)``.
    if PreferenceName.isOwn(key) { return nil }
    var (values, rest, place) = (values, key[...], [String]())
    while let dot = rest.firstIndex(of: "."), case .dictionary(let inner) = values[String(rest[..<dot])] {
      if values[String(rest)] != nil { return place + [String(rest)] }
      place.append(String(rest[..<dot]))
      values = inner
      rest = rest[rest.index(after: dot)...]
    }
    return nil
  }

  /// Stores a value at a path of ``placeBesideDictionary(of:in:)``, or by name if a dictionary on the path is missing.
  static func store(
    _ value: PreferenceValue, at place: ArraySlice<String>, in values: inout [String: PreferenceValue]
  ) {
    guard let first = place.first, place.count > 1, case .dictionary(var inner) = values[first] else {
      values[place.joined(separator: ".")] = value
      return
    }
    store(value, at: place.dropFirst(), in: &inner)
    values[first] = .dictionary(inner)
  }

  /// Removes every value that ``find(_:in:)`` could return, and the dictionaries that become empty.
  static func remove(_ key: some StringProtocol, from values: inout [String: PreferenceValue]) {
    values[String(key)] = nil
    guard let dot = key.firstIndex(of: "."), case .dictionary(var inner) = values[String(key[..<dot])], !inner.isEmpty
    else { return }
    remove(key[key.index(after: dot)...], from: &inner)
    values[String(key[..<dot])] = inner.isEmpty ? nil : .dictionary(inner)
  }

  /// The names of all values, in ascending order; a dictionary is listed by its entries, and by its own name if an
  /// entry has none.
  package static func keys(of values: [String: PreferenceValue]) -> [PreferenceName] {
    var keys: Set<String> = []
    collectKeys(of: values, below: "", into: &keys)
    return PreferenceName.valid(keys.sorted())
  }

  /// - Returns: false if a value has no name, such as one whose own name is empty or has a control character.
  @discardableResult
  private static func collectKeys(
    of values: [String: PreferenceValue], below prefix: String, into keys: inout Set<String>
  ) -> Bool {
    var isComplete = true
    for (name, value) in values {
      let key = prefix + name
      // A longer key cannot be looked up, and building it would take quadratic time.
      guard key.utf8.count <= PreferenceName.maximumByteCount, !PreferenceName.valid([key]).isEmpty else {
        isComplete = false
        continue
      }
      // A lookup enters a dictionary by the part before the first dot, so a dictionary whose name has a dot is a leaf.
      guard case .dictionary(let inner) = value, !inner.isEmpty, !name.contains("."), !JSONText.isKept(value),
        collectKeys(of: inner, below: key + ".", into: &keys)
      else {
        // Also a dictionary with a value that has no name: a copy by names must not lose it.
        keys.insert(key)
        continue
      }
    }
    return isComplete
  }

  /// The names whose lookups may return different values: changed values, dictionaries around them and values inside.
  package static func changes(from old: [String: PreferenceValue], to new: [String: PreferenceValue]) -> Set<String> {
    var names: Set<String> = []
    collectChanges(from: old, to: new, below: "", into: &names)
    return names
  }

  private static func collectChanges(
    from old: [String: PreferenceValue], to new: [String: PreferenceValue], below prefix: String,
    into names: inout Set<String>
  ) {
    for name in Set(old.keys).union(new.keys) {
      let (before, after) = (old[name], new[name])
      if let before, let after, before.isIdentical(to: after) { continue }
      let key = prefix + name
      guard key.utf8.count <= PreferenceName.maximumByteCount else { continue }
      names.insert(key)
      guard before?.kind == .dictionary || after?.kind == .dictionary else { continue }
      collectChanges(from: before.members, to: after.members, below: key + ".", into: &names)
    }
  }
}

extension PreferenceValue? {
  fileprivate var members: [String: PreferenceValue] {
    if case .dictionary(let members) = self { members } else { [:] }
  }
}
