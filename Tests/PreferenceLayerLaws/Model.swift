import Preferences
import PreferencesOperators

/// What a stack of layers should hold: dictionaries, and how names and writes lead to them.
indirect enum Model {
  final class Values { var values: [String: PreferenceValue] = [:] }

  struct Edit {
    var key: String
    var value: PreferenceValue?
    var secrecy: Secrecy
    /// What the base of a buffer had when the name was first changed; `nil` if that is not compared.
    var before: PreferenceValue??
  }

  final class Collected {
    /// In the order they were made.
    var edits: [Edit] = []
    var removesAll = false

    func change(_ key: String, _ secrecy: Secrecy) -> PreferenceValue?? {
      edits.last { $0.key == key && $0.secrecy == secrecy }.map(\.value)
    }
  }

  enum Claim {
    case nothing, everything
    case names(Set<String>)
    case prefix(String)

    func covers(_ key: String) -> Bool {
      switch self {
      case .nothing: false
      case .everything: true
      case .names(let names): names.contains(key)
      case .prefix(let prefix): key.hasPrefix(prefix)
      }
    }
  }

  case dictionary(Values, isSealed: Bool)
  case prefix(Model, String)
  case mounted(Model, String)
  case renamed(Model, [String: String])
  case readOnly(Model)
  case claiming(Model, Claim)
  case buffered(Model, Collected)
  case composite([Model], all: Bool)

  // MARK: Custody

  private var base: Model? {
    switch self {
    case .prefix(let base, _), .mounted(let base, _), .renamed(let base, _), .readOnly(let base),
      .claiming(let base, _), .buffered(let base, _):
      base
    case .dictionary, .composite: nil
    }
  }

  func holds(_ secrecy: Secrecy) -> Bool {
    switch self {
    case .dictionary(_, let isSealed): isSealed == (secrecy == .secret)
    case .composite(let layers, _): layers.contains { $0.holds(secrecy) }
    default: base?.holds(secrecy) ?? false
    }
  }

  func takes(_ secrecy: Secrecy) -> Bool {
    switch self {
    case .dictionary(_, let isSealed): isSealed == (secrecy == .secret)
    case .readOnly: false
    case .composite(let layers, _): layers.contains { $0.takes(secrecy) }
    default: base?.takes(secrecy) ?? false
    }
  }

  /// Whether it is a sealed store that has not said what it claims.
  var isBare: Bool {
    switch self {
    case .dictionary(_, let isSealed): isSealed
    case .mounted, .claiming, .composite: false
    default: base?.isBare ?? false
    }
  }

  private func claims(_ key: String) -> Bool {
    switch self {
    case .dictionary: return false
    case .mounted(let base, let prefix) where base.isBare: return key.hasPrefix(prefix)
    case .claiming(let base, let claim): return holds(.secret) && claim.covers(key) || base.claims(key)
    case .composite(let layers, _): return layers.contains { $0.claims(key) }
    default: return underneath(key).flatMap { base?.claims($0) } ?? false
    }
  }

  func secrecy(_ key: String, _ asked: Secrecy) -> Secrecy {
    asked == .secret || holds(.secret) && (isBare || claims(key)) ? .secret : .plain
  }

  // MARK: Names

  private func underneath(_ key: String) -> String? {
    switch self {
    case .prefix(_, let prefix): prefix + key
    case .mounted(_, let prefix): Self.without(prefix, key)
    case .renamed(_, let names): names[key] ?? (names.values.contains(key) ? nil : key)
    default: key
    }
  }

  private func above(_ key: String) -> String? {
    switch self {
    case .prefix(_, let prefix): Self.without(prefix, key)
    case .mounted(_, let prefix): prefix + key
    case .renamed(_, let names): names.first { $0.value == key }?.key ?? (names[key] == nil ? key : nil)
    default: key
    }
  }

  private static func without(_ prefix: String, _ key: String) -> String? {
    key.hasPrefix(prefix) && key != prefix ? String(key.dropFirst(prefix.count)) : nil
  }

  // MARK: Reading

  /// What a lookup gives: nothing for a secret where none are held.
  func value(_ key: String, _ asked: Secrecy = .plain) -> PreferenceValue? {
    if asked == .secret, !holds(.secret) { return nil }
    switch self {
    case .dictionary(let store, _): return store.values[key]
    case .buffered(let base, let collected):
      if let value = collected.change(key, secrecy(key, asked)) { return value }
      return collected.removesAll ? nil : base.value(key, asked)
    case .composite(let layers, _):
      let secrecy = secrecy(key, asked)
      for layer in layers where layer.holds(secrecy) { if let value = layer.value(key, secrecy) { return value } }
      return nil
    default: return underneath(key).flatMap { base?.value($0, asked) }
    }
  }

  func names(_ secrecy: Secrecy) -> [String] {
    switch self {
    case .dictionary(let store, _): return store.values.keys.sorted()
    case .buffered(let base, let collected):
      let stored = (collected.removesAll ? [] : base.names(secrecy)).filter { collected.change($0, secrecy) == nil }
      let names = Set(collected.edits.filter { $0.secrecy == secrecy }.map(\.key)).sorted()
      return stored + names.filter { collected.change($0, secrecy).map { $0 != nil } ?? false }
    case .composite(let layers, _):
      var seen: Set<String> = []
      return layers.filter { $0.holds(secrecy) }.flatMap { $0.names(secrecy) }.filter { key in
        (secrecy == .secret || self.secrecy(key, .plain) == .plain) && seen.insert(key).inserted
      }
    default: return (base?.names(secrecy) ?? []).compactMap(above)
    }
  }

  var keys: [String] {
    let plain = holds(.plain) ? names(.plain) : []
    return plain + (holds(.secret) ? names(.secret).filter { !plain.contains($0) } : [])
  }

  // MARK: Writing

  /// False when it must be refused, with nothing changed.
  @discardableResult
  func write(_ value: PreferenceValue?, _ key: String, _ secrecy: Secrecy) -> Bool {
    if secrecy == .secret, !takes(.secret) { return false }
    return apply([Edit(key: key, value: value, secrecy: secrecy)])
  }

  func removeAll() -> Bool { apply([], clearing: true) }

  private func apply(_ edits: [Edit], clearing clears: Bool = false) -> Bool {
    if edits.isEmpty, !clears { return true }
    switch self {
    case .readOnly: return false
    case .dictionary(let store, _):
      if clears { store.values = [:] }
      for edit in edits { store.values[edit.key] = edit.value }
      return true
    case .buffered(let base, let collected):
      let meant = edits.map { Edit(key: $0.key, value: $0.value, secrecy: secrecy($0.key, $0.secrecy)) }
      guard meant.allSatisfy({ takes($0.secrecy) }) else { return false }
      if clears { (collected.edits, collected.removesAll) = ([], true) }
      for var edit in meant {
        if let known = collected.edits.first(where: { $0.key == edit.key && $0.secrecy == edit.secrecy }) {
          edit.before = known.before
        } else if !collected.removesAll {
          edit.before = .some(base.value(edit.key, edit.secrecy))
        }
        collected.edits.removeAll { $0.key == edit.key && $0.secrecy == edit.secrecy }
        collected.edits.append(edit)
      }
      return true
    case .composite: return applyToLayers(edits, clears)
    default: return applyUnderneath(edits, clears)
    }
  }

  private func applyUnderneath(_ edits: [Edit], _ clears: Bool) -> Bool {
    guard let base else { return false }
    var mapped: [Edit] = []
    if clears, !showsEverything {
      for secrecy in [Secrecy.plain, .secret] where holds(secrecy) {
        mapped += base.names(secrecy).filter { above($0) != nil }.map { Edit(key: $0, value: nil, secrecy: secrecy) }
      }
    }
    for edit in edits {
      if let key = underneath(edit.key) {
        mapped.append(Edit(key: key, value: edit.value, secrecy: edit.secrecy))
      } else if edit.value != nil {
        return false
      }
    }
    return base.apply(mapped, clearing: clears && showsEverything)
  }

  private var showsEverything: Bool {
    switch self {
    case .prefix(_, let prefix): prefix.isEmpty
    case .renamed(_, let names): Set(names.keys).isSubset(of: names.values)
    default: true
    }
  }

  private func applyToLayers(_ edits: [Edit], _ clears: Bool) -> Bool {
    guard case .composite(let layers, _) = self else { return false }
    var parts: [Int: (edits: [Edit], clears: Bool)] = [:]
    if clears {
      for (secrecy, other) in [(Secrecy.plain, Secrecy.secret), (.secret, .plain)] {
        for index in targets(secrecy) {
          let isEmptied = !layers[index].takes(other) || targets(other).contains(index)
          let names = isEmptied ? [] : layers[index].names(secrecy)
          parts[index] = (names.map { Edit(key: $0, value: nil, secrecy: secrecy) }, isEmptied)
        }
      }
      if parts.isEmpty { return false }
    }
    for edit in edits {
      let secrecy = secrecy(edit.key, edit.secrecy)
      let targets = targets(secrecy)
      if targets.isEmpty { return false }
      for index in targets {
        parts[index, default: ([], false)].edits.append(Edit(key: edit.key, value: edit.value, secrecy: secrecy))
      }
    }
    // Last what cannot be undone, and before it what loses metadata: that shows where two places share a leaf.
    let places = parts.keys.sorted { first, second in
      let ranks = [first, second].map { (parts[$0]?.clears ?? false ? 2 : layers[$0].takes(.secret) ? 1 : 0, $0) }
      return ranks[0] < ranks[1]
    }
    // What each edit writes, and what a lookup returned before.
    let written = places.map { index in parts[index]?.clears ?? false ? [] : parts[index]?.edits ?? [] }
    let before = zip(places, written).map { index, edits in edits.map { layers[index].value($0.key, $0.secrecy) } }
    for (step, index) in places.enumerated() {
      guard let part = parts[index], !layers[index].apply(part.edits, clearing: part.clears) else { continue }
      // The one that refused may have changed a layer that it shares with an earlier one.
      for step in (0...step).reversed() {
        for (edit, old) in zip(written[step], before[step]).reversed() {
          guard Self.same(layers[places[step]].value(edit.key, edit.secrecy), edit.value) else { continue }
          _ = layers[places[step]].apply([Edit(key: edit.key, value: old, secrecy: edit.secrecy)])
        }
      }
      return false
    }
    return true
  }

  private func targets(_ secrecy: Secrecy) -> [Int] {
    guard case .composite(let layers, let all) = self else { return [] }
    let targets = layers.indices.filter { layers[$0].takes(secrecy) }
    return all ? targets : Array(targets.prefix(1))
  }

  // MARK: Buffers

  /// Whether the base has a different value of a collected name than when it was first changed.
  var isOvertaken: Bool {
    guard case .buffered(let base, let collected) = self else { return false }
    return collected.edits.contains { edit in
      guard let before = edit.before, before != nil || edit.value != nil else { return false }
      return !Self.same(base.value(edit.key, edit.secrecy), before)
    }
  }

  /// NaN is the same as NaN here.
  static func same(_ a: PreferenceValue?, _ b: PreferenceValue?) -> Bool {
    guard a != b else { return true }
    guard case (.double(let a), .double(let b)) = (a, b) else { return false }
    return a.isNaN && b.isNaN
  }

  /// False when something is not taken; everything is still collected then.
  func commit() -> Bool {
    guard case .buffered(let base, let collected) = self else { return true }
    for edit in collected.edits where edit.secrecy == .secret && !base.takes(.secret) { return false }
    guard base.apply(collected.edits, clearing: collected.removesAll) else { return false }
    (collected.edits, collected.removesAll) = ([], false)
    return true
  }

  func rollback() {
    guard case .buffered(_, let collected) = self else { return }
    (collected.edits, collected.removesAll) = ([], false)
  }
}
