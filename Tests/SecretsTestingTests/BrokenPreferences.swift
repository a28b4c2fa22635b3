import Preferences
import SecretsTesting
import Synchronization
import Testing

/// A store in memory with one fault.
final class BrokenPreferences: PreferencesStore, Identifiable {
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
    /// A lookup of an absent name stores something.
    case storesWhatIsRead
    /// A value that is not of the requested kind is removed.
    case removesWhatIsOfAnotherKind
    /// A compare-and-set overwrites any value.
    case exchangesBlindly
    /// Never finds NaN again.
    case exchangesNoNaN
    case notifiesNone
    /// Observers are notified before the change can be read.
    case notifiesTooEarly
    /// Observers are called wherever a write happens to be, suppressed or not.
    case notifiesDirectly
    /// Only the first observer is notified.
    case notifiesOne
    /// Invalidated observers are still notified.
    case notifiesForEver
    /// A removal of everything notifies no observer.
    case reportsNoRemovalOfAll

    var testDescription: String { "\(self)" }
  }

  let name = "broken"
  private let fault: Fault
  private let base: DictionaryPreferences
  private let changes = ChangeBroadcast()
  private let observers = Mutex<[@Sendable (PreferenceChange) -> Void]>([])

  /// - Parameter base: where the values are; of each its own when nil.
  private init(_ fault: Fault, _ base: DictionaryPreferences = DictionaryPreferences()) {
    self.fault = fault
    self.base = base
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

  var id: StoreIdentity {
    fault == .hasOneIdentity ? StoreIdentity(Self.self, name: name) : StoreIdentity(self)
  }

  // MARK: Reading

  func value(for query: PreferenceQuery) throws -> PreferenceValue? {
    let value = base.value(for: query)
    if value == nil, fault == .storesWhatIsRead { try base.set(0, forKey: query.name.text) }
    if fault == .removesWhatIsOfAnotherKind, let value, let kind = query.kind, value.kind != kind {
      try base.removeValue(forKey: query.name.text)
      return nil
    }
    return value
  }

  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }

  // MARK: Writing

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    var made = try edits.edits.map { edit in
      let content = try edit.content.map { PreferenceContent.value(kept(try $0.value())) }
      return PreferenceEdits.Edit(edit.name, to: content, if: try condition(of: edit))
    }
    switch fault {
    case .forgetsWrites: made.removeAll { $0.content != nil }
    case .forgetsRemovals: made.removeAll { $0.content == nil }
    case .losesOneOfSeveral where made.count > 1:
      let first = made.map(\.name).min()
      made.removeAll { $0.name == first }
    default: break
    }
    let remaining = PreferenceEdits(made, clearing: edits.clears)
    var outcome = WriteOutcome.visible
    if edits.clears, fault == .reportsNoRemovalOfAll {
      outcome = try base.apply(remaining)
    } else {
      try change(edits.change) { outcome = try base.apply(remaining) }
    }
    return outcome
  }

  private func condition(of edit: PreferenceEdits.Edit) throws -> PreferenceEdits.Condition {
    guard case .ifStored(let expected) = edit.condition else { return .always }
    switch fault {
    case .exchangesBlindly: return .always
    // A condition that no value meets.
    case .exchangesNoNaN where try expected?.value() != expected?.value(): return .ifStored(.value("no such value"))
    // What was not stored is not what the caller expects next.
    case .forgetsWrites: return .always
    default: return edit.condition
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

  // MARK: Notifications

  private func change(_ change: PreferenceChange, _ body: () throws -> Void) throws {
    if fault == .notifiesTooEarly { changes.send(change) }
    try body()
    switch fault {
    case .notifiesNone, .notifiesTooEarly: break
    case .notifiesDirectly: for notify in observers.withLock(\.self) { notify(change) }
    case .notifiesOne, .notifiesForEver:
      let all = observers.withLock(\.self)
      for notify in fault == .notifiesOne ? all.prefix(1) : all[...] { notify(change) }
    default: changes.send(change)
    }
  }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    switch fault {
    case .notifiesDirectly, .notifiesOne, .notifiesForEver:
      observers.withLock { $0.append(notify) }
      return PreferenceObservation {}
    default: return changes.observe(notify)
    }
  }
}
