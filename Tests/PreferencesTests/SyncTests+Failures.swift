import Preferences
import Synchronization
import Testing

/// When a sync is complete, and what becomes of it where a store fails, keeps nothing or is synced twice.
extension SyncTests {
  @Test func `item 83: waiting for completion returns when both stores hold the same`() async throws {
    let sync = sync(here, there)
    try await sync.add(port)
    try await withThrowingTaskGroup { group in
      for task in 1...4 {
        group.addTask { [here, there, port] in
          for number in 1...100 { try (task.isMultiple(of: 2) ? here : there).set(task * 1_000 + number, for: port) }
        }
      }
      try await group.waitForAll()
    }
    try await sync.waitForCompletion()
    #expect(try here.value(for: port) == there.value(for: port))
    #expect(try time(here) == time(there))
  }

  @Test func `item 83: waiting for completion throws the reason while a key is not synced`() async throws {
    let there = SealablePreferences()
    let sync = sync(here, there)
    try await sync.add(port)
    there.setLocked(true)
    let failures = Mutex<[String]>([])
    try PreferenceFailures.withHandler { failure in
      failures.withLock { $0.append("\(failure.reader) \(failure.key)") }
    } _: {
      _ = try here.set(81, for: port)
    }
    #expect(failures.withLock(\.self) == ["sealable server.port"])
    await #expect(throws: SealablePreferences.Locked.self) { try await sync.waitForCompletion() }
    there.setLocked(false)
    await sync.sync()
    try await sync.waitForCompletion()
    #expect(try there.value(for: port) == 81)
  }

  @Test(arguments: [81, nil])
  func `item 83: a store that notifies of writes and keeps none is reported, and not written for ever`(kept: Int?)
    async throws
  {
    let forgetful = RecordPreferences(
      name: "forgetful", keys: { [] }, get: { $0 == "server.port" ? kept.map(PreferenceValue.init) : nil },
      set: { _, _ in })
    let sync = sync(here, forgetful)
    let received = Mutex<[String]>([])
    try PreferenceFailures.withHandler { failure in
      received.withLock { $0.append("\(failure.reader) \(failure.key)") }
    } _: {
      try put(82, at: 2_000_000_000, in: here)
      try sync.add(port)
    }
    #expect(received.withLock(\.self) == ["forgetful server.port"])
    await #expect(throws: PreferencesError.self) { try await sync.waitForCompletion() }
    #expect(try here.value(for: port) == 82)
  }

  @Test(arguments: [true, false])
  func `a store that returns another value at each read is reported, and not tried for ever`(isLocal: Bool) async throws
  {
    let count = Mutex(0)
    let counter = RecordPreferences(
      name: "counter", keys: { [] },
      get: { key in
        guard key == "server.port" else { return nil }
        return count.withLock { count in
          count += 1
          return PreferenceValue(count)
        }
      },
      set: { _, _ in })
    try put(82, at: 2_000_000_000, in: here)
    let sync = isLocal ? sync(counter, here) : sync(here, counter)
    let received = Mutex<[String]>([])
    try PreferenceFailures.withHandler { failure in
      received.withLock { $0.append("\(failure.reader) \(failure.key)") }
    } _: {
      try sync.add(port)
    }
    #expect(received.withLock(\.self) == ["counter server.port"])
    let error = await #expect(throws: PreferencesError.self) { try await sync.waitForCompletion() }
    #expect(error?.code == .unavailable)
  }

  @Test(arguments: [true, false])
  func `item 83: a key whose writes a store loses is given up, until all are synced`(isLocal: Bool) async throws {
    let row = DictionaryPreferences()
    let state = Mutex((losesWrites: false, writes: 0))
    let losing = RecordPreferences(
      name: "losing", keys: { row.keys() }, get: { try row.value(forKey: $0) },
      set: { value, key in
        let isLost = state.withLock { state in
          state.writes += 1
          return state.losesWrites
        }
        if !isLost { try row.edit { try $0.set(value, forKey: key) } }
      })
    let sync = isLocal ? sync(losing, here) : sync(here, losing)
    try await sync.add(port)
    state.withLock { $0.losesWrites = true }
    let received = Mutex<[String]>([])
    try PreferenceFailures.withHandler { failure in
      received.withLock { $0.append("\(failure.reader) \(failure.key)") }
    } _: {
      for value in [81, 82, 83] { try here.set(value, for: port) }
    }
    #expect(received.withLock(\.self) == ["losing server.port"])
    #expect(state.withLock(\.writes) < 50)
    await #expect(throws: PreferencesError.self) { try await sync.waitForCompletion() }

    state.withLock { $0.losesWrites = false }
    await sync.sync()
    try await sync.waitForCompletion()
    #expect(try losing.value(for: port) == 83)
  }

  @Test func `item 83: a store that gives times back as text is not written for ever`() throws {
    let row = DictionaryPreferences()
    let writes = Mutex(0)
    struct Endless: Error {}
    let texts = RecordPreferences(
      name: "texts", keys: { row.keys() }, get: { try row.value(forKey: $0) },
      set: { value, key in
        let count = writes.withLock { writes in
          writes += 1
          return writes
        }
        // An endless sync ends here, as a failure that is not the expected one.
        guard count < 100 else { throw Endless() }
        switch value {
        case .string?: try row.set(value!, forKey: key)
        case let value?: try row.set("\(value)", forKey: key)
        case nil: try row.removeValue(forKey: key)
        }
      })
    let motd = PreferenceKey<String?>("motd")
    let sync = sync(here, texts)
    PreferenceFailures.withHandler { _ in
    } _: {
      do {
        try sync.add(motd)
        for text in ["a", "b", "c"] { try here.set(text, for: motd) }
        try texts.set("d", forKey: "motd")
      } catch {}
    }
    #expect(writes.withLock(\.self) < 40)
  }

  @Test func `item 83: a failure of a key that is removed is forgotten`() async throws {
    let there = SealablePreferences()
    let sync = sync(here, there)
    there.setLocked(true)
    try PreferenceFailures.withHandler { _ in
    } _: {
      try sync.add(port)
    }
    sync.remove(port)
    try await sync.waitForCompletion()
  }

  @Test func `item 83: a suppressed write is synced on request`() throws {
    let sync = sync(here, there)
    try sync.add(port)
    try withoutObservation { try here.set(81, for: port) }
    #expect(there.keys().isEmpty)
    sync.sync()
    #expect(try there.value(for: port) == 81)
  }

  @Test func `item 83: two machines that sync with one store end with the same`() throws {
    let third = DictionaryPreferences([:], name: "third")
    let (first, second) = (sync(here, there), sync(third, there))
    try first.add(port, host)
    try second.add(port, host)
    try here.set(81, for: port)
    try third.set("c", for: host)
    #expect(try third.value(for: port) == 81)
    #expect(try here.value(for: host) == "c")
    try third.reset(port)
    #expect(try here.storedValue(for: port) == nil)
    #expect(try time(here) == time(third))
    #expect(try time(here) == time(there))
    try there.set(83, for: port)
    #expect(try here.value(for: port) == 83)
    #expect(try third.value(for: port) == 83)
  }

  @Test func `item 83: two syncs of the same stores, in opposite directions, settle`() throws {
    let (first, second) = (sync(here, there), sync(there, here))
    try first.add(port)
    try second.add(port)
    try here.set(81, for: port)
    #expect(try there.value(for: port) == 81)
    try there.set(82, for: port)
    #expect(try here.value(for: port) == 82)
    #expect(try time(here) == time(there))
    first.removeAll()
    second.removeAll()
  }

  // MARK: Writes between the read and the write of a sync

  @Test func `a write to the other store while a key is synced is not lost`() throws {
    let other = Racing(there) { [port] in try $0.set(82, for: port) }
    let sync = sync(here, other)
    try sync.add(port)
    try here.set(81, for: port)
    #expect(try here.value(for: port) == 82)
    #expect(try there.value(for: port) == 82)
    #expect(try time(here) == time(there))
  }

  @Test func `a write to the own store while a key is pulled is not lost`() throws {
    let own = Racing(here) { [port] in try $0.set(82, for: port) }
    let sync = sync(own, there)
    try sync.add(port)
    try there.set(81, for: port)
    #expect(try here.value(for: port) == 82)
    #expect(try there.value(for: port) == 82)
  }

  @Test(arguments: [true, false])
  func `a write during the first sync is not lost`(isLocal: Bool) throws {
    try here.set(80, for: port)
    try put(81, at: 5, in: there)
    let raced = Racing(isLocal ? here : there) { [port] in try $0.set(82, for: port) }
    if !isLocal { try put(83, at: 6, in: here) }
    let sync = isLocal ? sync(raced, there) : sync(here, raced)
    try sync.add(port)
    #expect(try here.value(for: port) == 82)
    #expect(try there.value(for: port) == 82)
  }

  @Test func `a store that refuses every condition is reported, and not tried for ever`() throws {
    let refusing = Refusing(base: there)
    let sync = sync(here, refusing)
    let received = Mutex<[String]>([])
    try PreferenceFailures.withHandler { failure in
      received.withLock { $0.append("\(failure.reader) \(failure.key)") }
    } _: {
      try put(82, at: 2_000_000_000, in: here)
      try sync.add(port)
    }
    #expect(received.withLock(\.self) == ["refusing server.port"])
  }
}
