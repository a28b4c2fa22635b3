import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing
import VaultCore

/// What observers of a vault's secrets receive, and when.
@Suite(.throwawayVault) struct VaultObservationTests {}

extension VaultObservationTests {
  private static let token = PreferenceKey<String?>("token")

  /// Collects the changes that it receives.
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  private static func store(_ vault: Vault, service: String = "com.example.test") throws -> SecretPreferences {
    try SecretPreferences(service: service, in: vault)
  }

  /// As `withoutObservation`, in code that does not suspend.
  private func suppressed(_ body: () throws -> Void) rethrows { try withoutObservation(body) }

  private static func text(_ value: String??) -> String { (value ?? nil) ?? "-" }

  /// The changes of `token` that were received, each as `old>new`.
  private static func observing(_ store: SecretPreferences, _ body: (Log) throws -> Void) throws -> [String] {
    let log = Log()
    let observation = store.observe(token) { log.add("\(text($0.oldValue))>\(text($0.newValue))") }
    try body(log)
    observation.invalidate()
    return log.all
  }

  @Test func `a write has notified observers when it returns, also those of other stores of the vault object`() throws {
    let vault = ThrowawayVault.current.vault
    let (writer, reader) = (try Self.store(vault), try Self.store(vault))

    let received = try Self.observing(reader) { log in
      try writer.set("a", forKey: "token")
      #expect(log.all == ["->a"])
      try writer.set(["token": "b", "other": 1])
      #expect(log.all == ["->a", "a>b"])
      try writer.update(Self.token) { $0 = "c" }
      #expect(log.all.last == "b>c")
      try writer.removeValue(forKey: "token")
      #expect(log.all.last == "c>-")
      try writer.set(try Secret("d"), forKey: "token")
      try writer.removeAll()
    }

    #expect(received == ["->a", "a>b", "b>c", "c>-", "->d", "d>-"])
  }

  @Test func `an asynchronous write has notified observers when it returns`() async throws {
    let store = try Self.store(ThrowawayVault.current.vault)
    let log = Log()
    let observation = store.observe(Self.token) { log.add(Self.text($0.newValue)) }

    try await store.set("a", forKey: "token")
    try await store.set(["token": "b"])
    try await store.removeValue(forKey: "token")
    try await store.set(try Secret("c"), forKey: "token")
    try await store.removeAll()

    #expect(log.all == ["a", "b", "-", "c", "-"])
    observation.invalidate()
  }

  @Test func `changes of other services, groups and keys notify no observer`() throws {
    let throwaway = try ThrowawayVault(groups: ["default", "billing"])
    let store = try throwaway.preferences()

    let received = try Self.observing(store) { _ in
      try throwaway.preferences(service: "other").set("x", forKey: "token")
      try throwaway.preferences(accessGroup: "billing").set("x", forKey: "token")
      try store.set("x", forKey: "another")
      try store.set("same", forKey: "token")
      try store.set("same", forKey: "token")
    }

    #expect(received == ["->same"])
  }

  @Test func `item 82: what another handle writes is seen, in the journal and in a new file`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try Self.store(throwaway.reopened())
    var values = store.updates(for: Self.token).makeAsyncIterator()
    #expect(await values.next() == .some(nil))

    try await other.set("appended", forKey: "token")
    #expect(await values.next() == "appended")
    try await other.vault.compact()
    try await other.set("after a new file", forKey: "token")
    #expect(await values.next() == "after a new file")
    try await other.removeValue(forKey: "token")
    #expect(await values.next() == .some(nil))
  }

  // Exit tests capture values since Swift 6.3.
  #if compiler(>=6.3)
    @Test func `item 82: what another process writes is seen`() async throws {
      let throwaway = ThrowawayVault.current
      let store = try throwaway.preferences()
      var values = store.updates(for: Self.token).makeAsyncIterator()
      #expect(await values.next() == .some(nil))
      let key = throwaway.key.withUnsafeBytes { Data($0) }

      await #expect(processExitsWith: .success) { [path = throwaway.path as String, key = key as Data] in
        let key = try key.withUnsafeBytes { try SealingKey(copying: $0) }
        let vault = try Vault.open(at: path, credential: .key(key))
        try SecretPreferences(service: "com.example.test", in: vault).set("from afar", forKey: "token")
      }

      #expect(await values.next() == "from afar")
    }
  #endif

  @Test func `what is written past the store, by the vault object, is seen`() async throws {
    let vault = ThrowawayVault.current.vault
    let store = try Self.store(vault)
    var values = store.updates(for: Self.token).makeAsyncIterator()
    #expect(await values.next() == .some(nil))

    let (service, group) = (try Vault.Name("com.example.test"), try vault.group())
    try await vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.set(PreferenceValue.string("direct"), forKey: "token")
    }

    #expect(await values.next() == "direct")
  }

  @Test func `item 79: a suppressed write notifies no observer, though the file changes`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try Self.store(throwaway.reopened())
    try await store.set("first", forKey: "token")
    let log = Log()
    let observation = store.observe(Self.token) { log.add(Self.text($0.newValue)) }
    var marks = store.updates(for: PreferenceKey<String?>("mark")).makeAsyncIterator()
    #expect(await marks.next() == .some(nil))

    try suppressed { try store.set("unheard", forKey: "token") }
    try await withoutObservation { try await store.set(["token": "unheard, too"]) }
    // The watch has read the file when it reports a later change.
    try await other.set("m", forKey: "mark")
    #expect(await marks.next() == "m")

    #expect(log.all == [])
    #expect(try store.string(forKey: "token") == "unheard, too")
    observation.invalidate()
  }

  @Test func `item 79: what another handle writes over a suppressed value notifies observers`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try Self.store(throwaway.reopened())
    var values = store.updates(for: Self.token).makeAsyncIterator()
    #expect(await values.next() == .some(nil))

    try await withoutObservation { try await store.set("unheard", forKey: "token") }
    try await other.set("received", forKey: "token")

    #expect(await values.next() == "received")
  }

  @Test func `a change made while the vault is locked notifies observers when it is unlocked`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try Self.store(throwaway.reopened())
    var values = store.updates(for: Self.token).makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    store.vault.lock()
    try await other.set("meanwhile", forKey: "token")

    try await store.vault.unlock(with: .key(throwaway.key))

    #expect(await values.next() == "meanwhile")
  }

  @Test func `a group that is rotated and renamed still notifies observers`() throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let vault = throwaway.vault

    let received = try Self.observing(store) { log in
      try store.set("a", forKey: "token")
      try vault.rotate(vault.group())
      try vault.renameGroup(vault.group(), to: "renamed")
      let renamed = try SecretPreferences(service: store.service, accessGroup: "renamed", in: vault)
      try renamed.set("b", forKey: "token")
      // The watching thread may still be reporting the replaced file, and then reports this one, too.
      let deadline = ContinuousClock.now + .seconds(30)
      while log.all.count < 2, ContinuousClock.now < deadline { usleep(1000) }
    }

    #expect(received == ["->a", "a>b"])
  }

  @Test func `an ended observation is not notified, and the thread ends with the last observation`() throws {
    let store = try Self.store(ThrowawayVault.current.vault)
    let log = Log()
    let first = store.observe(Self.token) { _ in log.add("first") }
    let second = store.observe(Self.token) { _ in log.add("second") }

    first.invalidate()
    try store.set("a", forKey: "token")
    second.invalidate()
    try store.set("b", forKey: "token")

    #expect(log.all == ["second"])
  }

  @Test func `an observer that writes is notified afterwards, and nothing deadlocks`() throws {
    let store = try Self.store(ThrowawayVault.current.vault)
    let log = Log()
    let observation = store.observe(Self.token) { [store] change in
      log.add(Self.text(change.newValue))
      if change.newValue == "a" { _ = try? store.set("b", forKey: "token") }
    }

    try store.set("a", forKey: "token")

    #expect(log.all == ["a", "b"])
    observation.invalidate()
  }

  @Test func `item 81: a composite with a vault notifies when its effective value changes`() throws {
    let tokens = try Self.store(ThrowawayVault.current.vault)
    let plain = DictionaryPreferences(["token": "plain"])
    let preferences = CompositePreferences([tokens.claiming(.names(["token"])), plain])
    let log = Log()
    let observation = preferences.observe(Self.token) { log.add(Self.text($0.newValue)) }

    try tokens.set("sealed", forKey: "token")
    try plain.set("hidden", forKey: "token")
    try tokens.removeValue(forKey: "token")

    #expect(log.all == ["sealed", "-"])
    observation.invalidate()
  }

  @Test func `item 75: of rapid writes of two handles the last value is always reported`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try Self.store(throwaway.reopened())
    let key = PreferenceKey<Int?>("count")
    let values = store.updates(for: key)

    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in [store, other] {
        group.addTask { for number in 1...50 { try await writer.set(number, forKey: "count") } }
      }
      try await group.waitForAll()
    }
    try await other.set(1_000, forKey: "count")

    for await value in values where value == 1_000 { break }
    #expect(try store.value(for: key) == 1_000)
  }

  @Test func `the vault is freed when its observations have ended`() throws {
    weak var gone: Vault?
    do {
      let throwaway = try ThrowawayVault()
      let store = try throwaway.preferences()
      gone = store.vault
      let observation = store.observe(Self.token) { _ in }
      try store.set("a", forKey: "token")
      observation.invalidate()
    }

    #expect(gone == nil)
  }

  @Test func `the file is not watched any more when the vault is released before its observations`() async {
    await #expect(processExitsWith: .success) {
      let throwaway = try ThrowawayVault()
      var vault: Vault? = try throwaway.reopened()
      let observation = try vault.map { try SecretPreferences(service: "db", in: $0).observe { _ in } }
      #expect(watchedFolders() > 0)

      vault = nil

      #expect(watchedFolders() == 0)
      observation?.invalidate()
      withExtendedLifetime(throwaway) {}
    }
  }
}

/// The number of folders that the inotify instances of this process watch.
private func watchedFolders() -> Int {
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")) ?? []
  return descriptors.reduce(0) { sum, name in
    let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
    return sum + (text ?? "").split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
  }
}
