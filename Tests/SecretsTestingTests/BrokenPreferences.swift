import Preferences
import SecretsTesting
import Synchronization
import Testing

/// A store in memory with one fault.
final class BrokenPreferences: PreferencesStore {
  /// What is wrong with it.
  enum Fault: CaseIterable, CustomTestStringConvertible {
    /// All stores have the same values.
    case sharesValues
    /// All stores are taken for one.
    case hasOneIdentity
    /// What is opened again is empty.
    case losesValues
    case forgetsWrites
    case forgetsRemovals
    /// Of several values that are written together one is lost.
    case losesOneOfSeveral
    /// Integers come back as floating-point numbers.
    case storesIntegersAsDoubles
    /// What is not of the first element's kind is left out of arrays and dictionaries.
    case dropsOddElements
    /// A look at what is not there stores something.
    case storesWhatIsRead
    /// What is not of the kind that is asked for is removed.
    case removesWhatIsOfAnotherKind
    /// Takes secrets as a plain store.
    case takesSecrets
    /// Writes over whatever is there.
    case exchangesBlindly
    /// Never finds NaN again.
    case exchangesNoNaN
    case tellsNothing
    /// A change is told before it can be read.
    case tellsTooEarly
    /// Observers are called wherever a write happens to be, suppressed or not.
    case tellsDirectly
    /// Only the observer that came first hears of changes.
    case tellsOne
    /// Goes on telling those who have heard enough.
    case tellsForEver
    /// A removal of everything is not told.
    case tellsNoRemovalOfAll

    var testDescription: String { "\(self)" }
  }

  let name = "broken"
  private let fault: Fault
  private let base: DictionaryPreferences
  private let changes = ChangeBroadcast()
  private let observers = Mutex<[@Sendable (PreferenceChange) -> Void]>([])

  /// - Parameter base: where the values are; of each its own when nil.
  private init(_ fault: Fault, _ base: DictionaryPreferences = DictionaryPreferences()) {
    (self.fault, self.base) = (fault, base)
  }

  /// Stores with a fault.
  static func kind(_ fault: Fault) -> StoreUnderTest {
    StoreUnderTest("\(fault)") { store, _ in
      fault == .losesValues ? BrokenPreferences(fault) : store
    } make: { fixture in
      fault == .sharesValues
        ? BrokenPreferences(fault, fixture.kept(orKeep: DictionaryPreferences())) : BrokenPreferences(fault)
    }
  }

  var identity: StoreIdentity {
    fault == .hasOneIdentity ? StoreIdentity(Self.self, name: name) : StoreIdentity(self)
  }

  // MARK: Reading

  func value(forKey key: String) throws -> PreferenceValue? {
    let value = try base.value(forKey: key)
    if value == nil, fault == .storesWhatIsRead { try base.set(0, forKey: key) }
    return value
  }

  func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    let value = try value(forKey: key)
    if fault == .removesWhatIsOfAnotherKind, value.map({ $0.kind != kind }) ?? false {
      try base.removeValue(forKey: key)
      return nil
    }
    return value
  }

  func keys() throws -> [String] { base.keys() }

  // MARK: Writing

  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    if fault != .forgetsWrites { try change([key]) { try base.set(kept(value), forKey: key) } }
    return .visible
  }

  func set(_ values: [String: PreferenceValue]) throws {
    for key in values.keys { try PreferenceKeyName.validate(key) }
    let count = fault == .losesOneOfSeveral ? values.count - 1 : values.count
    for (key, value) in values.sorted(by: { $0.key > $1.key }).prefix(count) { _ = try set(value, forKey: key) }
  }

  func removeValue(forKey key: String) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    if fault != .forgetsRemovals { try change([key]) { try base.removeValue(forKey: key) } }
    return .visible
  }

  func removeAll() throws {
    if fault == .tellsNoRemovalOfAll { base.removeAll() } else { try change(nil) { base.removeAll() } }
  }

  func accepts(_ secrecy: Secrecy) -> Bool { secrecy != .secret || fault == .takesSecrets }

  func write(_ value: PreferenceValue?, forKey key: String, secrecy: Secrecy) throws -> WriteOutcome {
    guard accepts(secrecy) else { throw PreferencesError(.noStore, "no secrets here") }
    return try value.map { try set($0, forKey: key) } ?? removeValue(forKey: key)
  }

  func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome? {
    switch fault {
    case .exchangesBlindly: return try write(new, forKey: key, secrecy: secrecy)
    case .exchangesNoNaN where try value(forKey: key) != old: return nil
    case .forgetsWrites: return try write(new, forKey: key, secrecy: secrecy)
    default:
      guard try base.exchange(old, for: new.map(kept), forKey: key, as: kind, secrecy: .any) != nil else { return nil }
      try change([key]) {}
      return .visible
    }
  }

  private func kept(_ value: PreferenceValue) -> PreferenceValue {
    switch (fault, value) {
    case (.storesIntegersAsDoubles, .integer(let number)): .double(Double(number))
    case (.storesIntegersAsDoubles, .array(let items)): .array(items.map(kept))
    case (.dropsOddElements, .array(let items)): .array(items.filter { $0.kind == items[0].kind }.map(kept))
    case (.dropsOddElements, .dictionary(let members)):
      .dictionary(members.filter { $0.value.kind == members.min { $0.key < $1.key }?.value.kind })
    default: value
    }
  }

  // MARK: Telling

  private func change(_ keys: Set<String>?, _ body: () throws -> Void) throws {
    let change = keys.map(PreferenceChange.init(keys:)) ?? .anything
    if fault == .tellsTooEarly { changes.send(change) }
    try body()
    switch fault {
    case .tellsNothing, .tellsTooEarly: break
    case .tellsDirectly: for notify in observers.withLock(\.self) { notify(change) }
    case .tellsOne, .tellsForEver:
      let all = observers.withLock(\.self)
      for notify in fault == .tellsOne ? all.prefix(1) : all[...] { notify(change) }
    default: changes.send(change)
    }
  }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    switch fault {
    case .tellsDirectly, .tellsOne, .tellsForEver:
      observers.withLock { $0.append(notify) }
      return .none
    default: return changes.observe(notify)
    }
  }
}
