import Synchronization

// One rule everywhere: a write after which a key reads as before, be it as its default, is stored and is no news; a failed
// read is goes to `PreferenceFailures` and is no news either.

extension PreferencesReader {
  /// The values of a key: the present one, unless `initial` is false, and then each that differs from the one before. A
  /// removed value reads as the key's default.
  ///
  /// Each call gives a sequence of its own, which begins to look before this returns and ends when nobody iterates it any
  /// more; until then it holds the reader. Values come in the order they were written; of rapid writes some may be left
  /// out, the last never.
  /// - Parameter buffering: what happens to values that nobody has taken yet; all of them wait unless limited.
  public func updates<Value>(
    for key: PreferenceKey<Value>, initial: Bool = true,
    buffering: AsyncStream<Value>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Value> {
    stream(of: [key.name], initial, buffering) { [self] hasher in try observed(key, &hasher) }
  }

  /// The values of several keys, all of them whenever one changes.
  public func updates<First, Second, each Other: Sendable>(
    for first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ others: repeat PreferenceKey<each Other>,
    initial: Bool = true
  ) -> AsyncStream<(First, Second, repeat each Other)> {
    var names = [first.name, second.name]
    for key in repeat each others { names.append(key.name) }
    return stream(of: names, initial, .unbounded) { [self] hasher in
      (try observed(first, &hasher), try observed(second, &hasher), repeat try observed(each others, &hasher))
    }
  }

  /// Tells whenever the value of one of several keys changes; once at first, unless `initial` is false.
  public func updates(forKeys keys: [String], initial: Bool = true) -> AsyncStream<Void> {
    stream(of: keys, initial, .bufferingNewest(1)) { [self] hasher in
      for key in keys {
        let content = try content(for: try PreferenceQuery(key))
        hasher.combine(content == nil)
        content?.hash(into: &hasher)
      }
    }
  }

  private func stream<Seen: Sendable>(
    of keys: [String], _ initial: Bool, _ buffering: AsyncStream<Seen>.Continuation.BufferingPolicy,
    read: @escaping @Sendable (inout Hasher) throws -> Seen
  ) -> AsyncStream<Seen> {
    let (stream, continuation) = AsyncStream.makeStream(of: Seen.self, bufferingPolicy: buffering)
    let watch = Watch {
      var hasher = Hasher()
      let seen = try read(&hasher)
      return (hasher.finalize(), seen)
    } fail: { [self] error in
      PreferenceFailures.report(error, key: keys.joined(separator: ", "), reader: name)
    } deliver: { seen, isFirst in
      if initial || !isFirst { continuation.yield(seen) }
    }
    let observation = observe { change in if keys.contains(where: change.concerns) { watch.look() } }
    continuation.onTermination = { _ in observation.invalidate() }
    watch.begin()
    return stream
  }

  /// Calls `handler` with each change of a key's value, for as long as the observation is held or tied to an owner. It
  /// holds the reader and, to tell what was before, the last value.
  ///
  /// The handler runs in order and on the thread that made the change; where several threads write, one of them calls it
  /// for all. No lock is held: it may read, write and end the observation.
  public func observe<Value>(
    _ key: PreferenceKey<Value>, options: ObservationOptions = [],
    _ handler: @escaping @Sendable (KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    let last = LastValue<Value>()
    return PreferenceObservation.wrapping { [self] isWanted in
      // Asked before each call: the one before may have ended the observation.
      let tell: @Sendable (KeyChange<Value>) -> Void = { if isWanted() { handler($0) } }
      let watch = Watch<Value> {
        var hasher = Hasher()
        let seen = try observed(key, &hasher)
        return (hasher.finalize(), seen)
      } fail: { [self] in
        PreferenceFailures.report($0, key: key.name, reader: name)
      } deliver: { new, isFirst in
        let old = last.exchange(new)
        guard !isFirst else {
          if options.contains(.initial) { tell(KeyChange(oldValue: new, newValue: new, isInitial: true)) }
          return
        }
        // What could not be read reads as the default.
        let before = old ?? key.defaultValue
        if options.contains(.prior) { tell(KeyChange(oldValue: before, newValue: new, isPrior: true)) }
        tell(KeyChange(oldValue: before, newValue: new))
      }
      defer { watch.begin() }
      return observe { change in if change.concerns(key.name), isWanted() { watch.look() } }
    }
  }

  /// Calls `handler` with the values of several keys whenever one changes, and at once if `initial` is true. Otherwise as
  /// ``observe(_:options:_:)``.
  ///
  /// ```swift
  /// let observation = settings.observe(keys: .scheme, .serverPort) { scheme, port in restart(scheme, port) }
  /// ```
  public func observe<First, Second, each Other: Sendable>(
    keys first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ others: repeat PreferenceKey<each Other>,
    initial: Bool = false, _ handler: @escaping @Sendable ((First, Second, repeat each Other)) -> Void
  ) -> PreferenceObservation {
    var names = [first.name, second.name]
    for key in repeat each others { names.append(key.name) }
    return observation(of: names, initial, handler) { [self] hasher in
      (try observed(first, &hasher), try observed(second, &hasher), repeat try observed(each others, &hasher))
    }
  }

  private func observation<Seen: Sendable>(
    of keys: [String], _ initial: Bool, _ handler: @escaping @Sendable (Seen) -> Void,
    read: @escaping @Sendable (inout Hasher) throws -> Seen
  ) -> PreferenceObservation {
    PreferenceObservation.wrapping { [self] isWanted in
      let watch = Watch {
        var hasher = Hasher()
        let seen = try read(&hasher)
        return (hasher.finalize(), seen)
      } fail: {
        PreferenceFailures.report($0, key: keys.joined(separator: ", "), reader: name)
      } deliver: { seen, isFirst in
        if initial || !isFirst, isWanted() { handler(seen) }
      }
      defer { watch.begin() }
      return observe { change in if keys.contains(where: change.concerns), isWanted() { watch.look() } }
    }
  }

  private func observed<Value>(_ key: PreferenceKey<Value>, _ hasher: inout Hasher) throws -> Value {
    if let stored = try content(for: try key.query()) {
      stored.hash(into: &hasher)
      return try key.decoded(stored)
    }
    // By what it reads as: storing the default is no news either.
    let value = key.defaultValue
    try key.content(of: value)?.hash(into: &hasher)
    return value
  }
}

/// The value that an observer was told last.
private final class LastValue<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)

  func exchange(_ new: Value) -> Value? {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }
}
