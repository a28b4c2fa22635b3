import Preferences

/// What a stack of layers should hold: dictionaries, and how names and writes lead to them.
indirect enum Model {
  final class Values { var values: [String: PreferenceValue] = [:] }
  final class Collected {
    /// In the order they were made.
    var changes: [(key: String, value: PreferenceValue?, secrecy: Secrecy)] = []
    var removesAll = false

    func change(_ key: String, _ secrecy: Secrecy) -> PreferenceValue?? {
      let seen: Set<Secrecy> =
        switch secrecy {
        case .plain: [.plain, .any]
        case .secret: [.secret]
        case .any: [.plain, .secret, .any]
        }
      return changes.last { $0.key == key && seen.contains($0.secrecy) }?.value
    }
  }

  case dictionary(Values, isSealed: Bool)
  case prefix(Model, String)
  case renamed(Model, [String: String])
  case readOnly(Model)
  case buffered(Model, Collected)
  case composite([Model], all: Bool, secret: Set<String>)

  var isSealed: Bool {
    switch self {
    case .dictionary(_, let isSealed): isSealed
    case .prefix(let base, _), .renamed(let base, _), .readOnly(let base), .buffered(let base, _): base.isSealed
    case .composite(let layers, _, _): layers.contains(where: \.isSealed)
    }
  }

  var isLayered: Bool {
    switch self {
    case .dictionary: false
    case .prefix(let base, _), .renamed(let base, _), .readOnly(let base), .buffered(let base, _): base.isLayered
    case .composite: true
    }
  }

  func accepts(_ secrecy: Secrecy) -> Bool {
    switch self {
    case .dictionary(_, let isSealed): secrecy == .any || isSealed == (secrecy == .secret)
    case .prefix(let base, _), .renamed(let base, _), .buffered(let base, _): base.accepts(secrecy)
    case .readOnly: false
    case .composite(let layers, _, _): layers.contains { $0.accepts(secrecy) }
    }
  }

  func routed(_ secrecy: Secrecy) -> Secrecy { isLayered || secrecy == .secret ? secrecy : .any }

  func value(_ key: String, _ secrecy: Secrecy = .any) -> PreferenceValue? {
    switch self {
    case .dictionary(let store, let isSealed):
      return secrecy == .any || isSealed == (secrecy == .secret) ? store.values[key] : nil
    case .prefix(let base, let prefix): return base.value(prefix + key, secrecy)
    case .renamed(let base, let names): return Self.underneath(key, names).flatMap { base.value($0, secrecy) }
    case .readOnly(let base): return base.value(key, secrecy)
    case .buffered(let base, let collected):
      guard isLayered || secrecy == .any || isSealed == (secrecy == .secret) else { return nil }
      if let value = collected.change(key, secrecy == .any ? .any : base.kept(key, secrecy)) { return value }
      return collected.removesAll ? nil : base.value(key, secrecy)
    case .composite(let layers, _, let secret):
      let secrecy = secret.contains(key) ? .secret : secrecy
      for layer in layers { if let value = layer.value(key, secrecy) { return value } }
      return nil
    }
  }

  var keys: [String] {
    switch self {
    case .dictionary(let store, _): return store.values.keys.sorted()
    case .prefix(let base, let prefix):
      return base.keys.filter { $0.hasPrefix(prefix) && $0 != prefix }.map { String($0.dropFirst(prefix.count)) }
    case .renamed(let base, let names): return base.keys.compactMap { Self.above($0, names) }
    case .readOnly(let base): return base.keys
    case .buffered(let base, let collected):
      let stored = (collected.removesAll ? [] : base.keys).filter { collected.change($0, .any) == nil }
      let names = Set(collected.changes.map(\.key)).sorted()
      return stored + names.filter { collected.change($0, .any).map { $0 != nil } ?? false }
    case .composite(let layers, _, _):
      var seen: Set<String> = []
      return layers.flatMap(\.keys).filter { seen.insert($0).inserted }
    }
  }

  /// False when it must be refused, with nothing changed.
  @discardableResult
  func write(_ value: PreferenceValue?, _ key: String, _ secrecy: Secrecy) -> Bool {
    switch self {
    case .dictionary(let store, _):
      guard accepts(routed(secrecy)) else { return false }
      store.values[key] = value
      return true
    case .prefix(let base, let prefix): return base.write(value, prefix + key, secrecy)
    case .renamed(let base, let names):
      guard let other = Self.underneath(key, names) else { return value == nil }
      return base.write(value, other, secrecy)
    case .readOnly: return false
    case .buffered(let base, let collected):
      guard accepts(routed(secrecy)) else { return false }
      let kept = base.kept(key, secrecy)
      collected.changes.removeAll { $0.key == key && $0.secrecy == kept }
      collected.changes.append((key, value, kept))
      return true
    case .composite(_, _, let secret):
      let secrecy = secret.contains(key) ? .secret : secrecy
      let targets = targets(secrecy)
      let before = targets.map { $0.value(key, secrecy) }
      for (index, target) in targets.enumerated() where !target.write(value, key, secrecy) {
        // Those before it get back what a lookup told.
        for index in (0..<index).reversed() { targets[index].write(before[index], key, secrecy) }
        return false
      }
      return !targets.isEmpty
    }
  }

  func removeAll() -> Bool {
    switch self {
    case .dictionary(let store, _): store.values = [:]
    case .prefix(let base, ""): return base.removeAll()
    case .renamed(let base, let names) where Set(names.keys).isSubset(of: names.values): return base.removeAll()
    case .prefix, .renamed: return keys.allSatisfy { write(nil, $0, .any) }
    case .readOnly: return false
    case .buffered(_, let collected): (collected.changes, collected.removesAll) = ([], true)
    case .composite:
      let targets = targets(.any)
      return !targets.isEmpty && targets.allSatisfy { $0.removeAll() }
    }
    return true
  }

  /// False when something is not taken; it is still collected then.
  func commit() -> Bool {
    guard case .buffered(let base, let collected) = self else { return true }
    if collected.removesAll, !base.removeAll() { return false }
    collected.removesAll = false
    while let change = collected.changes.first {
      guard base.write(change.value, change.key, change.secrecy) else { return false }
      collected.changes.removeFirst()
    }
    return true
  }

  func rollback() {
    guard case .buffered(_, let collected) = self else { return }
    (collected.changes, collected.removesAll) = ([], false)
  }

  /// What a buffer of this collects a key under.
  private func kept(_ key: String, _ secrecy: Secrecy) -> Secrecy { isLayered ? written(key, secrecy) : .any }

  /// What a write really is.
  private func written(_ key: String, _ secrecy: Secrecy) -> Secrecy {
    switch self {
    case .dictionary(_, let isSealed): return secrecy == .any && isSealed ? .secret : secrecy
    case .prefix(let base, let prefix): return base.written(prefix + key, secrecy)
    case .renamed(let base, let names): return base.written(names[key] ?? key, secrecy)
    case .readOnly: return secrecy
    case .buffered(let base, _): return base.written(key, secrecy)
    case .composite(_, _, let secret):
      let secrecy = secret.contains(key) ? .secret : secrecy
      let targets = targets(.any)
      guard secrecy == .any, !targets.isEmpty else { return secrecy }
      return targets.allSatisfy { $0.written(key, .any) == .secret } ? .secret : .any
    }
  }

  private func targets(_ secrecy: Secrecy) -> [Model] {
    guard case .composite(let layers, let all, _) = self else { return [] }
    let targets = layers.filter { $0.accepts(secrecy) }
    return all ? targets : Array(targets.prefix(1))
  }

  private static func underneath(_ key: String, _ names: [String: String]) -> String? {
    names[key] ?? (names.values.contains(key) ? nil : key)
  }

  private static func above(_ key: String, _ names: [String: String]) -> String? {
    names.first { $0.value == key }?.key ?? (names[key] == nil ? key : nil)
  }
}
