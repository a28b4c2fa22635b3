import Foundation
import Preferences
import SecretsTesting
import Synchronization
import Testing
import VaultCore

@testable import Secrets

/// Observers of a vault that several handles write at once.
@Suite(.throwawayVault) struct BoundedVaultObservationTests {
  private static let token = PreferenceKey<String?>("token")
}

extension BoundedVaultObservationTests {
  private typealias Values = AsyncStream<String?>.Iterator

  @Test func `what another handle writes is seen while own writes overlap without a gap`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try SecretPreferences(service: store.service, in: throwaway.reopened())
    var values = store.updates(for: Self.token, initial: false).makeAsyncIterator()
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          var number = 0
          while !isDone.isSet {
            try await store.set(number, forKey: "own \(writer)")
            number += 1
          }
        }
      }
      for number in 0..<16 {
        try await other.set("\(number)", forKey: "token")
        #expect(await values.next() == "\(number)")
      }
      isDone.set()
      try await group.waitForAll()
    }
  }

  @Test func `a refused write under withoutObservation hides no change of another handle`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try SecretPreferences(service: store.service, in: throwaway.reopened())
    var values = store.updates(for: Self.token, initial: false).makeAsyncIterator()
    for number in 0..<100 {
      try await other.set("\(number)", forKey: "token")
      #expect(refused { try store.transaction { try $0.set("lost", forKey: "token", ifRevision: 7_777) } } == .conflict)
      #expect(await values.next() == "\(number)")
    }
  }

  private func refused(_ body: () throws -> some Any) -> VaultError.Code? {
    do { _ = try withoutObservation { try body() } } catch { return (error as? VaultError)?.code }
    return nil
  }

  @Test func `a change of another handle after a suppressed write is never swallowed`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try SecretPreferences(service: store.service, in: throwaway.reopened())
    var values = store.updates(for: Self.token, initial: false).makeAsyncIterator()
    for number in 0..<50 {
      try await withoutObservation { try await store.set("suppressed", forKey: "token") }
      try await other.set("\(number)", forKey: "token")
      #expect(await values.next() == "\(number)")
    }
  }

  @Test func `a suppressed change stays suppressed after a refused write, a fold and an unlocking`() async throws {
    let throwaway = ThrowawayVault.current
    let store = try throwaway.preferences()
    let other = try SecretPreferences(service: store.service, in: throwaway.reopened())
    let received = Mutex<[String?]>([])
    let observation = store.observe(Self.token) { change in received.withLock { $0.append(change.newValue) } }
    var marks = store.updates(for: PreferenceKey<Int?>("mark"), initial: false).makeAsyncIterator()

    try await withoutObservation { try await store.set("suppressed", forKey: "token") }
    let conflict = Result { try store.transaction { try $0.set("lost", forKey: "token", ifRevision: 7_777) } }
    #expect(throws: VaultError.self) { try conflict.get() }
    try await other.vault.compact()
    try await other.set(1, forKey: "mark")
    #expect(await marks.next() == 1)
    try await store.vault.unlock(with: .key(throwaway.key))
    try await other.set(2, forKey: "mark")
    #expect(await marks.next() == 2)

    #expect(received.withLock { $0 } == [])
    observation.invalidate()
  }

  @Test func `an observer of an asynchronous write blocks no thread of the cooperative pool`() async throws {
    let throwaway = ThrowawayVault.current
    let count = ProcessInfo.processInfo.activeProcessorCount + 4
    let isOpen = Flag()
    let stores = try (0..<count).map { try throwaway.preferences(service: "service \($0)") }
    let observations = stores.map { store in store.observe { _ in while !isOpen.isSet { usleep(1_000) } } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores { group.addTask { _ = try await store.set("x", forKey: "token") } }
      // A task that begins later must run while the observers wait for it.
      try await Task.sleep(for: .milliseconds(200))
      group.addTask { isOpen.set() }
      try await group.waitForAll()
    }
    for observation in observations { observation.invalidate() }
  }

  @Test func `reads on a helper thread block no thread of the cooperative pool`() async throws {
    let store = try ThrowawayVault.current.preferences()
    try await store.set("value", forKey: "token")
    let isOpen = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 4 {
        group.addTask {
          let text = try await store.reading { store in
            while !isOpen.isSet { usleep(1_000) }
            return try store.string(forKey: "token")
          }
          #expect(text == "value")
        }
      }
      try await Task.sleep(for: .milliseconds(100))
      group.addTask { isOpen.set() }
      try await group.waitForAll()
    }
  }

  @Test func `an observed secret is opened only if its own record has changed`() async throws {
    let throwaway = try ThrowawayVault(groups: ["default", "billing"])
    try await throwaway.vault.setAuditing(.failClosed)
    let store = try throwaway.preferences()
    let other = try throwaway.reopened()
    let (plain, billing) = (
      try SecretPreferences(service: store.service, in: other),
      try SecretPreferences(service: store.service, accessGroup: "billing", in: other)
    )
    try await plain.set("first", forKey: "token")
    var values = store.updates(for: Self.token).makeAsyncIterator()
    var marks = store.updates(for: PreferenceKey<Int?>("mark"), initial: false).makeAsyncIterator()
    #expect(await values.next() == "first")
    for number in 0..<30 {
      try await plain.set(number, forKey: "unrelated")
      try await billing.set("\(number)", forKey: "token")
      try await store.set(number, forKey: "own")
    }
    try await other.compact()
    try await store.vault.compact()
    try await other.createGroup("new")
    try await other.rotate(other.group())
    try await plain.set("second", forKey: "token")
    #expect(await values.next() == "second")
    try await plain.set(1, forKey: "mark")
    #expect(await marks.next() == 1)

    let reads = Mutex<[String]>([])
    _ = try await store.vault.readAuditLog(of: store.vault.group()) { event in
      if event.action == .read, let key = event.key { reads.withLock { $0.append(key.text) } }
    }
    // Once when the observation began, and once for its change. `mark` does not exist before.
    #expect(reads.withLock { $0.filter { $0 == "token" }.count } == 2)
    #expect(reads.withLock { $0.filter { $0 == "mark" }.count } == 1)
  }

  @Test func `as many suppressed changes are kept as the limit allows, the newest ones`() {
    var changes = SuppressedChanges()
    for number in 0..<20_000 { changes.add("\(number)", revision: UInt64(number + 1), isRemoval: false) }
    #expect(changes.count <= SuppressedChanges.limit)
    #expect(changes.count >= SuppressedChanges.limit / 2)
    #expect(changes.isPresent("19999", 20_000))
    #expect(!changes.isPresent("19999", 20_001))
    changes.add("19999", revision: 3, isRemoval: true)
    #expect(!changes.isPresent("19999", nil))
    changes.add("19999", revision: 20_002, isRemoval: true)
    #expect(changes.isPresent("19999", nil))
  }
}

/// Something that one task sets and others look at.
private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
  func set() { value.store(true, ordering: .sequentiallyConsistent) }
}
