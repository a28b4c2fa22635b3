public import FoundationEssentials
public import Preferences
import Synchronization

/// A value of a form or a model, with its load state, its validation, the times when it was set, and its observers.
///
/// ```swift
/// final class Person {
///   let name = Field<String>("name", rules: [.notBlank])
///   let age = Field<Int>("age", rules: [.range(0...150)])
/// }
/// person.age.value = 10
/// ```
///
/// A field can be used from any thread. Observers are called with no lock held, so they may read and set fields. Fields
/// that are linked, such as by `<-->`, end up with the same value, even if several threads set them at once.
public final class Field<Value: Sendable & Equatable>: AnyField {
  /// The name of the field in a dictionary, and how its value is converted.
  public let key: PreferenceKey<Value?>
  /// Keys for other dictionaries, by the name with which an import or export selects them.
  public let keys: [String: PreferenceKey<Value?>]
  /// The rules for the value, in the order of their messages.
  public let rules: [Rule<Value>]
  let now: @Sendable () -> Date
  let state: Mutex<FieldState<Value>>

  /// Creates a field.
  ///
  /// - Parameters:
  ///   - value: the initial value. If it is `nil`, the field is not loaded. It does not set ``updatedAt`` or
  ///     ``changedAt``.
  ///   - rules: the rules for the value.
  ///   - keys: keys for other dictionaries, such as one with the names and formats of a web service.
  ///   - now: returns the current time.
  public init(
    _ key: PreferenceKey<Value?>, value: Value? = nil, rules: [Rule<Value>] = [],
    keys: [String: PreferenceKey<Value?>] = [:], now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.key = key
    self.keys = keys
    self.rules = rules
    self.now = now
    state = Mutex(FieldState(value: value, loadState: value == nil ? .notLoaded : .loaded))
  }

  /// Creates a field of the key `name`; otherwise as ``init(_:value:rules:keys:now:)-(PreferenceKey<Value?>,_,_,_,_)``.
  public convenience init(
    _ name: String, value: Value? = nil, rules: [Rule<Value>] = [], keys: [String: PreferenceKey<Value?>] = [:],
    now: @escaping @Sendable () -> Date = { Date() }
  ) where Value: PreferenceConvertible {
    self.init(PreferenceKey(name), value: value, rules: rules, keys: keys, now: now)
  }

  /// Creates a field of any type; otherwise as ``init(_:value:rules:keys:now:)-(PreferenceKey<Value?>,_,_,_,_)``.
  ///
  /// A field without a name is neither imported nor exported, except with one of its `keys`. A value of a type that is
  /// not `PreferenceConvertible` has no stored form: importing, exporting or storing it under `name` throws
  /// ``PreferencesError/Code/notStorable``.
  public convenience init(
    _ name: String = "", value: Value? = nil, rules: [Rule<Value>] = [], keys: [String: PreferenceKey<Value?>] = [:],
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(.unstorable(name), value: value, rules: rules, keys: keys, now: now)
  }

  deinit {
    // An observation that is tied to a living owner would keep itself alive.
    for observer in state.withLock({ $0.observers }) { observer.observation?.invalidate() }
  }

  // MARK: The value

  /// The value. Setting it, even to an equal value, makes the field loaded, resets its validation and sets
  /// ``updatedAt``; setting a different value also sets ``changedAt`` and notifies the observers.
  public var value: Value? {
    get { state.withLock(\.value) }
    set { change { $0 = newValue } }
  }

  public var loadState: FieldLoadState { state.withLock(\.loadState) }
  public var updatedAt: Date? { state.withLock(\.updatedAt) }
  public var changedAt: Date? { state.withLock(\.changedAt) }

  /// Loads the value: the field is loading, and then loaded or failed.
  ///
  /// If a value is set, or a later load begins, before `fetch` returns, its result is dropped.
  /// - Throws: the error that `fetch` throws; the field keeps its value.
  public func load(_ fetch: () async throws -> Value?) async throws {
    let load = state.withLock { state in
      state.loadState = .loading
      state.generation += 1
      return state.generation
    }
    do {
      let value = try await fetch()
      change(.load(generation: load)) { $0 = value }
    } catch {
      fail(error, ifGeneration: load)
      throw error
    }
  }

  // MARK: Validation

  public var validation: FieldValidation { state.withLock(\.validation) }

  @discardableResult
  public func validate() -> FieldValidation {
    let (value, generation) = state.withLock { ($0.value, $0.generation) }
    let problems = rules.problems(of: value)
    return state.withLock { state in
      // A value that was set meanwhile has not been checked.
      if state.generation == generation { state.problems = problems }
      return FieldValidation(problems + state.errors)
    }
  }

  @discardableResult
  public func validateIfNeeded() -> FieldValidation {
    state.withLock { $0.problems == nil ? nil : $0.validation } ?? validate()
  }

  public func addError(_ message: String) { state.withLock { $0.errors.append(message) } }

  public func resetValidation() { state.withLock { $0.resetValidation() } }
}

/// Whether a field's value is loaded.
///
/// The value is `nil` both in a field that is not loaded and in a loaded field without a value.
public enum FieldLoadState: Sendable {
  /// No value was given, set or loaded.
  case notLoaded
  /// ``Field/load(_:)`` is running.
  case loading
  /// The value was given, set or loaded.
  case loaded
  /// The value could not be loaded, or could not be stored in the store that the field is bound to.
  case failed(any Error)

  var isLoaded: Bool { if case .loaded = self { true } else { false } }
}

/// The result of checking a field's value.
public enum FieldValidation: Sendable, Equatable {
  /// The value has not been checked since it was set.
  case unknown
  /// The value satisfies all rules.
  case valid
  /// What is wrong: the messages of the broken rules, in the order of the rules, then the added errors.
  case invalid([String])

  init(_ problems: [String]) { self = problems.isEmpty ? .valid : .invalid(problems) }
}

extension Field: CustomStringConvertible, CustomReflectable {
  /// The name, without the value, which may be a secret.
  public var description: String { PreferencesError(.absent, "field \"\(name)\"").message }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
