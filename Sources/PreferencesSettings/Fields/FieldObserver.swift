public import Preferences
import Synchronization

/// An object that can own a closure that observes a field: `field --> owner { value in … }`.
public protocol FieldOwner: AnyObject {}

extension FieldOwner {
  /// Returns the right-hand side of `field --> owner { value in … }`.
  public func callAsFunction<Value>(
    _ handler: @escaping @Sendable (Value?) -> Void
  ) -> (owner: Self, handler: @Sendable (Value?) -> Void) {
    (self, handler)
  }
}

/// An object that observes fields of one type.
///
/// ```swift
/// final class Label: FieldObserver {
///   func valueChanged(_ value: String?, of field: Field<String>) { show(value ?? "–") }
/// }
/// person.name --> label
/// ```
public protocol FieldObserver<Value>: FieldOwner, Sendable {
  /// The type of the values.
  associatedtype Value: Sendable & Equatable

  /// Called with the field's value when the observer is added, and then after each change, on the thread of the change.
  func valueChanged(_ value: Value?, of field: Field<Value>)
}

extension Field {
  /// Calls `handler` with the value now, and then with each different value, while the observation is held or its owner
  /// is alive.
  ///
  /// The handler is called in the order of the changes, on the thread that made the change; when several threads set
  /// the field, one of them calls it for all. No lock is held: the handler may set fields and end the observation. A
  /// value that the handler sets in the same field is delivered after it returns.
  public func observe(_ handler: @escaping @Sendable (Value?) -> Void) -> PreferenceObservation {
    add(.handler { _, new in handler(new) })
  }

  /// As ``observe(_:)``, until `owner` is released or removed. The owner is not retained. An owner has one closure per
  /// field: adding a second one replaces the first.
  public func observe(owner: AnyObject, _ handler: @escaping @Sendable (Value?) -> Void) {
    add(.handler { _, new in handler(new) }, owner: ObjectIdentifier(owner)).tie(to: owner)
  }

  /// Returns the value now, and then each different value in order, for a loop on any actor.
  ///
  /// ```swift
  /// Task { @MainActor in
  ///   for await name in person.name.values() { label.text = name ?? "–" }
  /// }
  /// ```
  ///
  /// The sequence does not retain the field. It ends when the field is released, and with ``removeAllObservers()``.
  public func values() -> AsyncStream<Value?> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value?.self)
    let observation = add(.handler { _, new in continuation.yield(new) }) { continuation.finish() }
    continuation.onTermination = { _ in observation.invalidate() }
    return stream
  }

  /// Notifies `observer`, which is not retained, as ``observe(_:)`` does. However often it is added, it is notified
  /// once per change.
  public func addObserver<Observer: FieldObserver>(_ observer: Observer) where Observer.Value == Value {
    let handler: @Sendable (Value?, Value?) -> Void = { [weak self, weak observer] _, new in
      if let self, let observer { observer.valueChanged(new, of: self) }
    }
    add(.handler(handler), owner: ObjectIdentifier(observer)).tie(to: observer)
  }

  /// Sets `other`, which is not retained, to the value now, and again when the value changes.
  ///
  /// This continues to all fields that are linked to `other`. A cycle of links ends, whatever its length.
  public func addObserver(_ other: Field<Value>) { link(to: other) { $0 } }

  /// Stops notifying `owner`: an observer, a linked field, or the owner of a closure.
  public func removeObserver(_ owner: AnyObject) { removeObservers { $0.owner == ObjectIdentifier(owner) } }

  /// Ends all observations, including closures and linked fields. A binding to a store stays.
  public func removeAllObservers() { removeObservers { if case .store = $0.kind { false } else { true } } }

  private func removeObservers(where isRemoved: (FieldReceiver<Value>) -> Bool) {
    for receiver in state.withLock({ $0.observers.filter(isRemoved) }) { receiver.observation?.invalidate() }
  }

  /// Sets `other` to the result of `transform` for each new value, and for the current value unless `isInitial` is
  /// false.
  func link<Other>(
    to other: Field<Other>, isInitial: Bool = true, _ transform: @escaping @Sendable (Value) -> Other?
  ) {
    let send: @Sendable (Value?, UInt64) -> Void = { [weak other] value, number in
      let transformed = value.flatMap(transform)
      other?.change(.field(number: number)) { $0 = transformed }
    }
    add(.link(send), owner: ObjectIdentifier(other), isInitial: isInitial).tie(to: other)
  }
}
