package import Preferences
package import PreferencesTestSupport
import Synchronization

/// A stack of layers and its model.
struct Stack {
  var reader: any PreferencesReader
  var model: Model
  var text: String
}

/// Random stacks and operations. Every law is checked after every operation.
package struct LayerLaw {
  /// Makes a leaf: an empty store, and what a failure calls it.
  package typealias MakingLeaf = (inout SeededGenerator) throws -> (store: any PreferencesStore, text: String)

  private static let names = ["a", "b", "a.b", "a.a", "b.a", "a.a.b", "é", "a.é"]

  private var random: SeededGenerator
  private var leaves: [Stack] = []
  private var buffers: [(BufferedPreferences, Model)] = []
  private var log: [String] = []

  private let makeLeaf: MakingLeaf

  private init(seed: UInt64, _ makeLeaf: @escaping MakingLeaf) {
    random = SeededGenerator(seed: seed)
    self.makeLeaf = makeLeaf
  }

  /// The first broken law of the stack of a seed; nil if all hold.
  package static func failure(seed: UInt64, leaf makeLeaf: @escaping MakingLeaf) throws -> String? {
    var law = LayerLaw(seed: seed, makeLeaf)
    let stack = try law.stack(depth: 3)
    let received = Received()
    let observation = stack.reader.observe { received.add($0) }
    defer { observation.invalidate() }
    for _ in 0..<6 {
      let before = LayerLaw.names.map { stack.model.value($0) }
      var failure = try law.step(stack) ?? LayerLaw.difference(stack)
      let changes = received.take()
      for (name, old) in zip(LayerLaw.names, before) where failure == nil {
        if !Model.same(stack.model.value(name), old), !changes.contains(where: { $0.concerns(name) }) {
          failure = "no observer was notified of \(name)"
        }
      }
      if let failure { return "\(stack.text)\n  \(law.log.joined(separator: "\n  "))\n  \(failure)" }
    }
    return nil
  }

  private mutating func name() -> String { Self.names[random.number(below: Self.names.count)] }

  private mutating func value() -> PreferenceValue {
    switch random.number(below: 5) {
    case 0: .string(name())
    case 1: .bool(random.chance(50))
    case 2: .array([.integer(Int64(random.number(below: 3)))])
    case 3: .double(random.chance(50) ? .nan : 0.5)
    default: .integer(Int64(random.number(below: 100)))
    }
  }

  private mutating func secrecy() -> Secrecy { random.chance(60) ? .plain : .secret }

  private mutating func leaf() throws -> Stack {
    // A leaf in two places of one stack is allowed, too.
    if let used = leaves.last, random.chance(15) { return used }
    let (store, text) = try makeLeaf(&random)
    let leaf = Stack(reader: store, model: .dictionary(.init(), isSealed: !store.custody.holds(.plain)), text: text)
    leaves.append(leaf)
    return leaf
  }

  private mutating func stack(depth: Int) throws -> Stack {
    guard depth > 0, !random.chance(10) else { return try leaf() }
    switch random.number(below: 7) {
    case 0:
      let (base, prefix) = (try stack(depth: depth - 1), ["", "a.", "b", "a.a."][random.number(below: 4)])
      return Stack(
        reader: prefixed(base.reader, prefix), model: .prefix(base.model, prefix),
        text: "\(base.text) below \"\(prefix)\"")
    case 1:
      let (base, a, b) = (try stack(depth: depth - 1), name(), name())
      let names = a == b || random.chance(50) ? [a: name()] : [a: b, b: a]
      return Stack(
        reader: try renamed(base.reader, names), model: .renamed(base.model, names),
        text: "\(base.text) renaming \(names)")
    case 2 where random.chance(50):
      let base = try stack(depth: depth - 1)
      return Stack(reader: base.reader.readOnly, model: .readOnly(base.model), text: "\(base.text) read-only")
    case 3:
      let base = try stack(depth: depth - 1)
      guard let store = base.reader as? any PreferencesStore else { return base }
      let buffer = BufferedPreferences(store)
      let model = Model.buffered(base.model, .init())
      buffers.append((buffer, model))
      return Stack(reader: buffer, model: model, text: "buffered(\(base.text))")
    case 4:
      let (base, prefix) = (try stack(depth: depth - 1), ["a.", "b"][random.number(below: 2)])
      return Stack(
        reader: mounted(base.reader, prefix), model: .mounted(base.model, prefix),
        text: "\(base.text) mounted at \"\(prefix)\"")
    default:
      let layers = try (0..<(1 + random.number(below: 3))).map { _ in claiming(try stack(depth: depth - 1)) }
      let all = random.chance(50)
      return Stack(
        reader: CompositePreferences(layers.map(\.reader), writeMode: all ? .allStores : .firstStore),
        model: .composite(layers.map(\.model), all: all),
        text: "composite(\(layers.map(\.text).joined(separator: ", ")); all: \(all))")
    }
  }

  /// A layer of a composite: a sealed one says what it claims, and others may.
  private mutating func claiming(_ layer: Stack) -> Stack {
    guard layer.model.isBare || random.chance(10) else { return layer }
    let claims: [(Model.Claim, PreferenceClaim?)] = [
      (.nothing, nil), (.everything, .everything), (.prefix("a."), .prefix("a.")),
    ]
    let names: Set<String> = [name(), name()]
    let (claim, real) = (claims + [(.names(names), .names(names))])[random.number(below: 4)]
    return Stack(
      reader: claimed(layer.reader, real), model: .claiming(layer.model, claim), text: "\(layer.text) claiming \(claim)"
    )
  }

  private func claimed(_ base: some PreferencesReader, _ claim: PreferenceClaim?) -> any PreferencesReader {
    claim.map { base.claiming($0) } ?? base.unclaimed
  }

  private func mounted(_ base: some PreferencesReader, _ prefix: String) -> any PreferencesReader {
    base.mounted(at: prefix)
  }

  private func prefixed(_ base: some PreferencesReader, _ prefix: String) -> any PreferencesReader {
    base.below(prefix)
  }

  private func renamed(_ base: some PreferencesReader, _ names: [String: String]) throws -> any PreferencesReader {
    try base.renaming(names)
  }

  /// Does something at random to the stack, or to what is underneath, and returns what differs then.
  private mutating func step(_ stack: Stack) throws -> String? {
    if random.chance(25), let leaf = leaves.randomElement(using: &random) {
      return try change(leaf, "underneath, ")
    }
    if random.chance(25), let (buffer, model) = buffers.randomElement(using: &random) {
      if random.chance(50) {
        if model.isOvertaken { return overtaken(buffer) }
        let isTaken = model.commit()
        return perform("commit", isTaken) { try buffer.commit() }
          ?? (buffer.isClean == isTaken ? nil : "a buffer is clean when everything was taken")
      }
      log.append("roll back")
      buffer.rollback()
      model.rollback()
      return nil
    }
    return try change(stack, "")
  }

  private mutating func change(_ stack: Stack, _ place: String) throws -> String? {
    guard let store = stack.reader as? any PreferencesStore else { return nil }
    let (key, secrecy, value) = (name(), secrecy(), value())
    switch random.number(below: 10) {
    case 0...3:
      return perform("\(place)write \(key) \(secrecy) \(value)", stack.model.write(value, key, secrecy)) {
        try store.edit(PreferenceEdits([.init(PreferenceName(key), to: .value(value), secrecy: secrecy)]))
      }
    case 4...5:
      return perform("\(place)remove \(key) \(secrecy)", stack.model.write(nil, key, secrecy)) {
        try store.edit(PreferenceEdits([.init(PreferenceName(key), to: nil, secrecy: secrecy)]))
      }
    case 6:
      return perform("\(place)set \(key) \(value)", stack.model.write(value, key, .plain)) {
        try store.set(value, forKey: key)
      }
    case 7:
      return perform("\(place)remove \(key)", stack.model.write(nil, key, .plain)) {
        try store.removeValue(forKey: key)
      }
    case 8:
      return perform("\(place)merge \(key) \(value)", stack.model.write(value, key, .plain)) {
        try store.set([key: value])
      }
    default: return perform("\(place)remove all", stack.model.removeAll()) { try store.removeAll() }
    }
  }

  private mutating func perform(_ text: String, _ isAllowed: Bool, _ body: () throws -> Void) -> String? {
    log.append(text)
    do {
      try body()
      return isAllowed ? nil : "should have been refused"
    } catch { return isAllowed ? "was refused: \(error)" : nil }
  }

  /// Commits changes over a change that was made meanwhile: a conflict, unless a write is refused first. Nothing is
  /// written, and everything is still collected.
  private mutating func overtaken(_ buffer: BufferedPreferences) -> String? {
    log.append("commit over a change")
    do {
      guard try buffer.commit() == .conflict else { return "should have been a conflict" }
    } catch {}
    return buffer.isClean ? "a conflict has discarded the changes" : nil
  }

  /// What in the stack is not as in its model.
  private static func difference(_ stack: Stack) throws -> String? {
    let (reader, model) = (stack.reader, stack.model)
    for name in names {
      for secrecy in [Secrecy.plain, .secret] {
        let value = try reader.lookUp(PreferenceQuery(name, secrecy: secrecy))
        let expected = model.value(name, secrecy)
        guard Model.same(value, expected) else { return "\(name) \(secrecy): \(value as Any), not \(expected as Any)" }
      }
      guard Model.same(try reader.value(forKey: name), model.value(name)) else { return "\(name) by name" }
    }
    let keys = try reader.keys()
    guard keys == model.keys else { return "keys \(keys), not \(model.keys)" }
    for secrecy in [Secrecy.plain, .secret] where reader.custody.holds(secrecy) != model.holds(secrecy) {
      return "holds \(secrecy)"
    }
    return nil
  }
}

/// The changes that an observer received.
private final class Received: Sendable {
  private let changes = Mutex<[PreferenceChange]>([])
  func add(_ change: PreferenceChange) { changes.withLock { $0.append(change) } }
  func take() -> [PreferenceChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }
}
