import Synchronization

// One rule for all observers: a write that leaves a value unchanged is not reported as a change. For a declared key,
// storing its default where nothing is stored is no change. A failed read is reported to `PreferenceFailures` and is
// not a change either.

extension PreferencesReader {
  /// Returns the values of a key: the current value, unless `initial` is false, then every value that differs from the
  /// previous one. A removed value reads as the default of the key.
  ///
  /// Each call returns its own sequence. Observation begins before this method returns and ends when the sequence is no
  /// longer iterated; until then the sequence retains the reader. Values arrive in the order in which they were
  /// written. Some of several rapid writes may be skipped, but never the last. The first read is made on the calling
  /// thread: if it may wait, `try await settings.reading { $0.updates(for: key) }` makes it on a helper thread.
  /// - Parameter buffering: the policy for values that are not yet consumed; all of them are kept unless limited.
  public func updates<Value>(
    for key: PreferenceKey<Value>, initial: Bool = true,
    buffering: AsyncStream<Value>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Value> {
    stream(of: [key.name], initial, buffering) { [self] hasher in try observed(key, &hasher) }
  }

  /// Returns the values of several keys: all of them whenever one changes.
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

  /// Returns a sequence with an element for each change of one of several keys, and one immediately unless `initial` is
  /// false.
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
    let observation = observation(of: keys, initial, { continuation.yield($0) }, read: read)
    continuation.onTermination = { _ in observation.invalidate() }
    return stream
  }

  /// Calls `handler` with each change of the value of a key, while the observation is held or its owner is alive. The
  /// observation retains the reader and, to report the old value, the last value.
  ///
  /// The handler is called in the order of the changes, on the thread that made the change, or for the `async` form of
  /// a write on a helper thread; when several threads write, a helper thread calls it for changes that arrive while it
  /// runs. No lock is held: the handler may read, write and end the observation. This call makes the first read on the
  /// calling thread: see ``PreferencesReader/reading(_:)`` for reads that may wait.
  ///
  /// - Parameters:
  ///   - initial: whether the handler is also called with the current value, immediately.
  ///   - prior: whether the handler is called twice for each change, first with ``KeyChange/isPrior``. The store has
  ///     the new value both times.
  public func observe<Value>(
    _ key: PreferenceKey<Value>, initial: Bool = false, prior: Bool = false,
    _ handler: @escaping @Sendable (KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    key.observation(in: self, initial, prior, handler)
  }

  /// Calls `handler` with the values of several keys whenever one changes, and immediately if `initial` is true.
  /// Otherwise as ``observe(_:initial:prior:_:)``.
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

  /// Calls `handler` after each change of a key, without the value. The observation retains the reader but no value,
  /// and does not decode the stored value, except to compare it: that of a sealed key, and that of a list or dictionary
  /// of a sealed layer, as a copy in ordinary memory, which cannot be wiped.
  public func observe<Value>(
    changesOf key: PreferenceKey<Value>, _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    observation(of: [key.name], false, handler) { [self] hasher in
      let stored = try content(for: try key.query())
      let seen = try key.seen(stored, as: try key.current(stored, in: self))
      seen?.hash(into: &hasher)
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
    try key.observed(in: self, &hasher)
  }
}

extension PreferenceKey {
  // Not in the reader, so that the compiler makes it for the usual types: looking up the metadata of generic types is a
  // quarter of a notification.
  @_specialize(where Value == Bool)
  @_specialize(where Value == Int)
  @_specialize(where Value == Double)
  @_specialize(where Value == String)
  @_specialize(where Value == String?)
  fileprivate func observation(
    in reader: any PreferencesReader, _ initial: Bool, _ prior: Bool,
    _ handler: @escaping @Sendable (KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    let last = LastValue<Value>()
    return PreferenceObservation.wrapping { isWanted in
      // Checked before each call: the previous call may have ended the observation.
      let tell: @Sendable (KeyChange<Value>) -> Void = { if isWanted() { handler($0) } }
      let watch = Watch<Value> {
        var hasher = Hasher()
        let seen = try observed(in: reader, &hasher)
        return (hasher.finalize(), seen)
      } fail: {
        PreferenceFailures.report($0, key: name, reader: reader.name)
      } deliver: { new, isFirst in
        let old = last.exchange(new)
        guard !isFirst else {
          if initial { tell(KeyChange(oldValue: new, newValue: new, isInitial: true)) }
          return
        }
        // A value that could not be read counts as the default.
        let before = old ?? defaultValue
        if prior { tell(KeyChange(oldValue: before, newValue: new, isPrior: true)) }
        tell(KeyChange(oldValue: before, newValue: new))
      }
      defer { watch.begin() }
      return reader.observe { change in if change.concerns(name), isWanted() { watch.look() } }
    }
  }

  fileprivate func observed(in reader: any PreferencesReader, _ hasher: inout Hasher) throws -> Value {
    let stored = try reader.content(for: try query())
    let value = try current(stored, in: reader)
    let seen = try seen(stored, as: value)
    // Also that it is absent: a value that moves from one key to the next is a change.
    hasher.combine(seen == nil)
    seen?.hash(into: &hasher)
    return value
  }

  fileprivate func current(_ stored: PreferenceContent?, in reader: any PreferencesReader) throws -> Value {
    try stored.map { try decoded($0, of: reader) } ?? defaultValue
  }

  /// What is compared with the next read: the default like a stored value, because storing the default is no change.
  fileprivate func seen(
    _ stored: PreferenceContent?, as value: @autoclosure () throws -> Value
  ) throws -> PreferenceContent? {
    if let stored, comparison == nil { return stored }
    return try compared(value())
  }
}

/// The value that an observer received last.
private final class LastValue<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)

  func exchange(_ new: Value) -> Value? {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }
}
