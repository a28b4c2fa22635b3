import FoundationEssentials
import Preferences
import Synchronization

/// The state that a field's lock protects.
struct FieldState<Value: Sendable & Equatable>: Sendable {
  var value: Value?
  var loadState: FieldLoadState
  var updatedAt: Date?
  var changedAt: Date?
  /// The messages of the last validation; `nil` if the value has not been checked.
  var problems: [String]?
  /// The errors added with `addError(_:)`.
  var errors: [String] = []
  /// Counts sets and loads: a value that was read elsewhere is set only if this number has not changed meanwhile.
  var generation = 0
  /// The number of the change that the value comes from.
  var number: UInt64 = 0
  var observers: [FieldReceiver<Value>] = []
  /// The changes that the handlers have not received yet.
  var deliveries: [FieldDelivery<Value>] = []
  var isDelivering = false

  init(value: Value?, loadState: FieldLoadState) {
    self.value = value
    self.loadState = loadState
  }

  var validation: FieldValidation {
    guard let problems else { return errors.isEmpty ? .unknown : .invalid(errors) }
    return FieldValidation(problems + errors)
  }

  mutating func resetValidation() {
    problems = nil
    errors = []
  }
}

/// A change as handlers receive it.
struct FieldDelivery<Value: Sendable & Equatable>: Sendable {
  let old, new: Value?
  let receivers: [FieldReceiver<Value>]
}

/// Where a new value comes from.
enum FieldOrigin {
  case caller
  case load(generation: Int)
  /// A linked field, whose value comes from the change with this number.
  case field(number: UInt64)
  /// A store that was read at this generation, with the identifier of the binding.
  case store(generation: Int, id: UInt64)

  /// Whether the value comes too late.
  func isLate(for state: FieldState<some Sendable & Equatable>) -> Bool {
    switch self {
    case .caller: false
    case .load(let generation), .store(let generation, _): generation != state.generation
    case .field(let number): number <= state.number
    }
  }

  /// Whether setting an equal value counts as a set.
  var isSet: Bool {
    switch self {
    case .caller, .load: true
    case .field, .store: false
    }
  }
}

private let lastNumber = Atomic<UInt64>(0)

/// Returns the next number of one sequence that all fields share.
func nextFieldNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

extension Field {
  /// Changes the value with `body`.
  ///
  /// Every change has a number, from one sequence that all fields share, which is passed on to linked fields with the
  /// value. A field accepts a value from a linked field only if its number is newer. So a change stops at a field that
  /// it has already reached, in any cycle of links and even if the value does not equal itself; and after two
  /// concurrent changes, all fields that are linked in both directions have the newer value.
  /// - Parameter body: called with the lock held.
  /// - Returns: false, with nothing changed, if the value comes too late.
  @discardableResult
  func change<E: Error>(
    _ origin: FieldOrigin = .caller, _ body: (inout Value?) throws(E) -> Void
  ) throws(E) -> Bool {
    let time = now()
    var isDifferent = false
    var isRetried = false
    let changed = try state.withLock { state throws(E) -> FieldState<Value>? in
      guard !origin.isLate(for: state) else { return nil }
      let old = state.value
      var new = old
      try body(&new)
      isDifferent = Self.isDifferent(new, from: old)
      if case (.caller, .failed) = (origin, state.loadState) { isRetried = true }
      if origin.isSet || isDifferent || !state.loadState.isLoaded {
        state.loadState = .loaded
        state.updatedAt = time
        state.generation += 1
        state.resetValidation()
      } else if case .store = origin {
        // If the later of two reads of a store returns the field's own value, the earlier read must count as late.
        state.generation += 1
      }
      if isDifferent {
        state.value = new
        state.changedAt = time
        state.deliveries.append(FieldDelivery(old: old, new: new, receivers: state.observers))
      }
      if case .field(let number) = origin {
        state.number = number
      } else if isDifferent {
        state.number = nextFieldNumber()
      }
      return state
    }
    guard let changed else { return false }
    // A newer number is passed on even with an equal value: a linked field may still have an older value.
    if case .field = origin { forward(changed) } else if isDifferent { forward(changed) }
    // After a failure, an equal value is not known to be stored.
    if isDifferent || isRetried { store(changed, from: origin) }
    deliver()
    return true
  }

  /// Whether a change is one. NaN is not different from NaN, although it does not equal it. Equal values whose stored
  /// forms have different bytes are different, such as 0 and -0, or a composed and a decomposed accent.
  private static func isDifferent(_ new: Value?, from old: Value?) -> Bool {
    guard new == old else { return new == new || old == old }
    guard let new = new as? any PreferenceConvertible, let old = old as? any PreferenceConvertible else { return false }
    return !new.preferenceValue.isIdentical(to: old.preferenceValue)
  }

  /// Passes a value on to linked fields.
  private func forward(_ state: FieldState<Value>) {
    for receiver in state.observers {
      if case .link(let send) = receiver.kind, receiver.isWanted { send(state.value, state.number) }
    }
  }

  /// Passes a value on to stores, except the store that it comes from.
  private func store(_ state: FieldState<Value>, from origin: FieldOrigin) {
    for receiver in state.observers {
      guard case .store(let binding) = receiver.kind, receiver.isWanted else { continue }
      if case .store(_, binding.id) = origin { continue }
      binding.store(state.value, generation: state.generation)
    }
  }

  /// Calls the handlers. One of several threads calls them for all, so that they receive the changes in order.
  private func deliver() {
    let begins = state.withLock { state in
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard begins else { return }
    while let delivery = nextDelivery() {
      for receiver in delivery.receivers {
        if case .handler(let handle) = receiver.kind, receiver.isWanted { handle(delivery.old, delivery.new) }
      }
    }
  }

  private func nextDelivery() -> FieldDelivery<Value>? {
    state.withLock { state in
      state.isDelivering = !state.deliveries.isEmpty
      return state.isDelivering ? state.deliveries.removeFirst() : nil
    }
  }

  /// Marks the field as failed to load or store its value, unless a value was set since.
  func fail(_ error: any Error, ifGeneration generation: Int) {
    state.withLock { if $0.generation == generation { $0.loadState = .failed(error) } }
  }

  // MARK: Receivers

  /// Adds a receiver, which replaces the receivers of the same owner. A handler receives the value at once, and so does
  /// a linked field unless `isInitial` is false.
  func add(
    _ kind: FieldReceiver<Value>.Kind, owner: ObjectIdentifier? = nil, id: UInt64 = nextFieldNumber(),
    isInitial: Bool = true, onEnd: @escaping @Sendable () -> Void = {}
  ) -> PreferenceObservation {
    let observation = PreferenceObservation { [weak self] in
      onEnd()
      self?.remove(id)
    }
    let new = FieldReceiver(id: id, owner: owner, kind: kind, observation: observation)
    let (replaced, linked) = state.withLock { state in
      let replaced = state.observers.filter { $0.owner != nil && $0.owner == owner }
      state.observers.removeAll { $0.owner != nil && $0.owner == owner }
      state.observers.append(new)
      switch kind {
      case .handler:
        state.deliveries.append(FieldDelivery(old: state.value, new: state.value, receivers: [new]))
      case .link where isInitial:
        // The value is passed on as if it were set now, so that no linked field has a newer number.
        state.number = nextFieldNumber()
        return (replaced, Optional(state))
      case .link, .store: break
      }
      return (replaced, nil)
    }
    for receiver in replaced { receiver.observation?.invalidate() }
    if let linked { forward(linked) }
    deliver()
    return observation
  }

  private func remove(_ id: UInt64) {
    let removed = state.withLock { state in
      state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
    }
    // Released with no lock held: what a handler retains may end other observations.
    withExtendedLifetime(removed) {}
  }
}

/// Something that receives the values of a field.
struct FieldReceiver<Value: Sendable & Equatable>: Sendable {
  enum Kind: Sendable {
    case handler(@Sendable (_ old: Value?, _ new: Value?) -> Void)
    /// A linked field.
    case link(@Sendable (Value?, _ number: UInt64) -> Void)
    case store(FieldBinding<Value>)
  }

  let id: UInt64
  /// Identifies the receiving object, or the owner of the handler.
  let owner: ObjectIdentifier?
  let kind: Kind
  /// Held by the caller or by its owner.
  weak var observation: PreferenceObservation?

  init(id: UInt64, owner: ObjectIdentifier?, kind: Kind, observation: PreferenceObservation) {
    self.id = id
    self.owner = owner
    self.kind = kind
    self.observation = observation
  }

  // Must not be read with the field's lock held: ending an observation acquires it.
  var isWanted: Bool { observation?.isWanted ?? false }
}
