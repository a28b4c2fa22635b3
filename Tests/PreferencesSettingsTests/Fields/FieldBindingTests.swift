import Dispatch
import PreferencesSettings
import Preferences
import SecretsTesting
import Synchronization
import Testing

/// A field that is bound to a stored key.
struct FieldBindingTests {
  private let store = DictionaryPreferences(["age": 10])
  private let field = Field<Int>("age", value: 1)

  @Test func `the field takes the stored value at once`() throws {
    let binding = try field.bind(to: store)
    #expect(field.value == 10)
    binding.invalidate()
  }

  @Test func `the field takes nil if nothing is stored`() throws {
    let binding = try field.bind(to: DictionaryPreferences())
    #expect(field.value == nil && field.loadState.isLoaded)
    binding.invalidate()
  }

  @Test func `a stored value that does not convert throws, and the field is neither changed nor bound`() async throws {
    let store = DictionaryPreferences(["age": "text"])
    #expect(throws: PreferencesError.self) { try field.bind(to: store) }
    try await store.set(11, forKey: "age")
    #expect(field.value == 1)
    await #expect(throws: PreferencesError.self) { try await field.save() }
  }

  @Test func `a value that breaks a rule is not stored, and fails the field until it is valid`() async throws {
    let field = Field<Int>("age", rules: [.range(0...150)])
    let binding = try field.bind(to: store)
    let reported = await failures {
      field.value = 200
      await #expect(throws: PreferencesError.self) { try await field.save() }
    }
    #expect(reported.contains("age"))
    #expect(store["age"] == 10)
    #expect(field.value == 200)
    guard case .failed(let error as PreferencesError) = field.loadState else { return #expect(Bool(false)) }
    #expect(error.code == .outOfRange)
    field.value = 20
    try await field.save()
    #expect(store["age"] == 20)
    binding.invalidate()
  }

  @Test func `item 31: a hidden write is done and reported, and the field takes the value of the layer`() async throws {
    let layers = CompositePreferences([DictionaryPreferences(["age": 7], name: "above").readOnly, store])
    let binding = try field.bind(to: layers)
    let reported = try await failures {
      field.value = 20
      try await field.save()
    }
    #expect(reported == ["age"])
    #expect(store["age"] == 20)
    #expect(field.value == 7)
    binding.invalidate()
  }

  @Test func `a value that equals the old one in other bytes is a change, and is stored`() async throws {
    let store = DictionaryPreferences(["name": "caf\u{E9}", "number": 0.0])
    let (name, number) = (Field<String>("name"), Field<Double>("number"))
    let bindings = [try name.bind(to: store), try number.bind(to: store)]
    name.value = "cafe\u{301}"
    number.value = -0.0
    try await name.save()
    try await number.save()
    #expect(try store.string(forKey: "name")?.utf8.count == 6)
    #expect(try store.double(forKey: "number")?.sign == .minus)
    #expect(name.changedAt != nil && number.changedAt != nil)
    for binding in bindings { binding.invalidate() }
  }

  private func failures(of body: () async throws -> Void) async rethrows -> [String] {
    let keys = Mutex<[String]>([])
    try await PreferenceFailures.withHandler {
      let key = $0.key
      keys.withLock { $0.append(key) }
    } _: {
      try await body()
    }
    return keys.withLock(\.self)
  }

  @Test func `item 105: the field follows the store`() async throws {
    let binding = try field.bind(to: store)
    try await store.set(11, forKey: "age")
    #expect(field.value == 11)
    try await store.removeValue(forKey: "age")
    #expect(field.value == nil)
    binding.invalidate()
  }

  @Test func `item 105: a set of the field is stored, and saved when save returns`() async throws {
    let binding = try field.bind(to: store)
    field.value = 11
    try await field.save()
    #expect(try store.integer(forKey: "age") == 11)
    field.value = nil
    try await field.save()
    #expect(try !store.contains("age"))
    binding.invalidate()
  }

  @Test func `the newest of several values is stored, and no older one comes back`() async throws {
    let slow = FailingPreferences(store)
    let (binding, log) = (try field.bind(to: slow), Log<Int?>())
    let observation = field.observe(log.append)
    slow.become(.slowWrites)
    field.value = 11
    try await slow.waitForCalls()
    for value in 12...20 { field.value = value }
    slow.become(.working)
    try await field.save()
    #expect(try store.integer(forKey: "age") == 20)
    #expect(field.value == 20 && log.entries == [10] + (11...20).map(Optional.some))
    withExtendedLifetime((binding, observation)) {}
  }

  @Test func `a change of the store while a value is stored is not lost`() async throws {
    let slow = FailingPreferences(store)
    let binding = try field.bind(to: slow)
    slow.become(.slowWrites)
    field.value = 11
    try await slow.waitForCalls()
    try await store.set(12, forKey: "age")
    #expect(field.value == 11)
    slow.become(.working)
    try await field.save()
    // The write of the field was the last.
    #expect(try store.integer(forKey: "age") == 11 && field.value == 11)
    try await store.set(13, forKey: "age")
    #expect(field.value == 13)
    binding.invalidate()
  }

  @Test func `a write that fails is reported, keeps the value and fails the field, until it is saved`() async throws {
    let (failing, failures) = (FailingPreferences(store), Log<String>())
    let binding = try field.bind(to: failing)
    failing.become(.full)
    await PreferenceFailures.withHandler({ failures.append($0.key) }) {
      field.value = 11
      await #expect(throws: (any Error).self) { try await field.save() }
    }
    #expect(field.value == 11 && field.loadState.error != nil)
    #expect(failures.entries.first == "age")
    failing.become(.working)
    try await field.save()
    #expect(try store.integer(forKey: "age") == 11)
    binding.invalidate()
  }

  /// The value 11 could not be stored, and the store works again.
  private func bindingAfterFailure() async throws -> PreferenceObservation {
    let failing = FailingPreferences(store)
    let binding = try field.bind(to: failing)
    failing.become(.full)
    await PreferenceFailures.withHandler({ _ in }) {
      field.value = 11
      await #expect(throws: (any Error).self) { try await field.save() }
    }
    failing.become(.working)
    return binding
  }

  @Test func `the same value is stored if it is set again after a failure`() async throws {
    let binding = try await bindingAfterFailure()
    field.value = 11
    while try store.integer(forKey: "age") != 11 { try await Task.sleep(for: .milliseconds(1)) }
    binding.invalidate()
  }

  @Test func `saving again after a failure makes the field loaded`() async throws {
    let binding = try await bindingAfterFailure()
    try await field.save()
    #expect(field.loadState.isLoaded)
    binding.invalidate()
  }

  @Test func `a store that cannot be read later is reported, and the field keeps its value`() async throws {
    let (failing, failures) = (FailingPreferences(store), Log<String>())
    let binding = try field.bind(to: failing)
    failing.become(.damaged)
    try await PreferenceFailures.withHandler({ failures.append($0.key) }) {
      try await store.set(11, forKey: "age")
    }
    #expect(field.value == 10 && failures.entries == ["age"])
    binding.invalidate()
  }

  @Test func `the binding ends with its observation`() async throws {
    var binding: PreferenceObservation? = try field.bind(to: store)
    #expect(binding != nil)
    binding = nil
    try await store.set(11, forKey: "age")
    #expect(field.value == 10)
    await #expect(throws: PreferencesError.self) { try await field.save() }
  }

  @Test func `a binding tied to its field is freed with it, and no longer observes the store`() async throws {
    var field: Field<Int>? = Field<Int>("age")
    weak let weakField = field
    try field!.bind(to: store).tie(to: field!)
    field = nil
    #expect(weakField == nil)
    try await store.set(11, forKey: "age")
  }

  @Test func `a field without a binding cannot be saved`() async {
    let error = await #expect(throws: PreferencesError.self) { try await field.save() }
    #expect(error?.code == .noStore)
  }

  @Test func `two stores are kept alike, also with NaN`() async throws {
    let (first, second) = (DictionaryPreferences(), DictionaryPreferences())
    let ratio = Field<Double>("ratio")
    let bindings = [try ratio.bind(to: first), try ratio.bind(to: second)]
    try await first.set(0.5, forKey: "ratio")
    try await ratio.save()
    #expect(try second.double(forKey: "ratio") == 0.5)
    ratio.value = .nan
    try await ratio.save()
    #expect(try first.double(forKey: "ratio")?.isNaN == true)
    #expect(try second.double(forKey: "ratio")?.isNaN == true)
    withExtendedLifetime(bindings) {}
  }

  @Test func `an older value does not replace a newer one that is stored already`() async throws {
    let binding = try field.bind(to: store)
    let (other, twos) = (Field<Int>("other"), Log<Int>())
    // The 2 reaches the store only after the 3, because links come first.
    field --> { [field] value in
      if value == 2, twos.entries.isEmpty {
        twos.append(2)
        field.value = 3
      }
      return Optional(value)
    } --> other
    field.value = 2
    try await field.save()
    #expect(try store.integer(forKey: "age") == 3 && field.value == 3 && other.value == 3)
    binding.invalidate()
  }

  @Test func `a field and a store that threads set at once end with equal values`() async throws {
    for round in 0..<300 {
      let (store, field) = (DictionaryPreferences(), Field<Int>("age"))
      let binding = try field.bind(to: store)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for value in 0..<4 {
          if thread < 2 { field.value = value } else { store["age"] = value }
        }
      }
      try await field.save()
      // A helper thread may still notify for the last writes.
      for _ in 0..<3_000 where try store.integer(forKey: "age") != field.value {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(try store.integer(forKey: "age") == field.value, "round \(round)")
      binding.invalidate()
    }
  }

  @Test func `linking a bound field writes nothing that is stored already`() async throws {
    let failing = FailingPreferences(store)
    let (binding, other) = (try field.bind(to: failing), Field<Int>("other"))
    failing.become(.full)
    field --> other
    try await field.save()
    #expect(other.value == 10)
    binding.invalidate()
  }
}
