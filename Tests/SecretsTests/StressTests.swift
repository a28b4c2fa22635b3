import Foundation
import Preferences
import PreferenceLayerLaws
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Synchronization
import Testing
import VaultCore

// Exit tests capture values since Swift 6.3.
#if compiler(>=6.3)
  /// Several processes make all kinds of calls on one vault and one file. `Scripts/stress` runs this for longer.
  struct StressTests {
    @Test func `three processes with many tasks lose nothing, and see every last value`() async throws {
      let throwaway = try ThrowawayVault()
      try await throwaway.vault.setAuditing(.failOpen)
      let folder = try TemporaryFolder()
      let key = throwaway.key.withUnsafeBytes { Data($0) }
      let place = Stress.Place(
        vault: throwaway.path, key: key, file: folder.path + "/settings.json",
        rounds: 2 * Int(LayerLaw.soakFactor), seed: 1)
      let store = try throwaway.preferences()
      let file = try JSONPreferences(at: place.file, options: .creating)
      let watch = try await file.watch()
      let last = Mutex<(sealed: Int?, plain: Int?)>((nil, nil))
      let observations = [
        store.observe(Stress.total) { change in last.withLock { $0.sealed = change.newValue } },
        file.observe(Stress.total) { change in last.withLock { $0.plain = change.newValue } },
      ]

      await withTaskGroup(of: Void.self) { group in
        for process in UInt64(0)..<3 {
          group.addTask {
            await #expect(processExitsWith: .success) { [place = place as Stress.Place, process = process as UInt64] in
              try await Stress(place, process).run()
            }
          }
        }
      }

      let expected = 3 * Stress.tasks * place.rounds
      #expect(try store.value(for: Stress.total) == expected)
      try await file.reload()
      #expect(try file.value(for: Stress.total) == expected)
      for _ in 0..<3_000 where last.withLock({ $0.sealed != expected || $0.plain != expected }) { usleep(10_000) }
      #expect(last.withLock { $0.sealed } == expected)
      #expect(last.withLock { $0.plain } == expected)
      _ = try await store.vault.verify()
      for observation in observations { observation.invalidate() }
      watch.invalidate()
    }
  }

  /// The work of one process.
  struct Stress: Sendable {
    struct Place: Codable, Sendable {
      let vault: String
      let key: Data
      let file: String
      let rounds: Int
      let seed: UInt64
    }

    static let total = PreferenceKey("total", default: 0)
    static let tasks = 4

    private let place: Place
    private let process: UInt64
    private let store: SecretPreferences
    private let file: JSONPreferences

    init(_ place: Place, _ process: UInt64) async throws {
      self.place = place
      self.process = process
      let key = try place.key.withUnsafeBytes { try SealingKey(copying: $0) }
      let vault = try await Vault.open(at: place.vault, credential: .key(key))
      store = try SecretPreferences(service: "com.example.test", in: vault)
      file = try JSONPreferences(at: place.file, options: .creating)
    }

    /// Runs tasks that each raise both totals `rounds` times, with other calls in between.
    func run() async throws {
      let watch = try await file.watch()
      let seen = Atomic<Int>(0)
      let observations = [
        store.observe(Self.total) { change in
          // A total never falls.
          precondition(change.newValue >= seen.load(ordering: .relaxed), "an observer saw an old value last")
          seen.store(change.newValue, ordering: .relaxed)
        },
        store.observe { _ in }, file.observe { _ in },
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<Self.tasks {
          group.addTask {
            var random = SeededGenerator(seed: place.seed << 16 | process << 8 | UInt64(task))
            for _ in 0..<place.rounds {
              try await store.update(Self.total) { $0 += 1 }
              try await file.update(Self.total) { $0 += 1 }
              try await call(random.number(below: 16), &random)
            }
          }
        }
        try await group.waitForAll()
      }
      for observation in observations { observation.invalidate() }
      watch.invalidate()
    }

    private func call(_ number: Int, _ random: inout SeededGenerator) async throws {
      let key = "key \(random.number(below: 8))"
      let text = "\(random.next())"
      switch number {
      case 0: try await store.set(text, forKey: key)
      case 1: try await store.removeValue(forKey: key)
      // Two values that are always equal.
      case 2: try await store.set(["left": .string(text), "right": .string(text)])
      case 3:
        let snapshot = try store.snapshot()
        let (left, right) = (try snapshot.value(forKey: "left"), try snapshot.value(forKey: "right"))
        precondition(left == right, "a snapshot is torn")
      case 4: _ = try await store.reading { try $0.string(forKey: key) }
      case 5: _ = try store.keys()
      case 6: _ = try store.info(forKey: key)
      case 7: _ = try store.removedSecrets()
      case 8: try await withoutObservation { try await store.set(text, forKey: key) }
      case 9:
        let edit = try RecordEdit(expires: nil, label: "stress")
        try await store.transaction { batch in try batch.set(text, forKey: key, edit: edit) }
      case 10: if random.chance(20) { try await store.vault.compact() }
      case 11: if random.chance(10) { try await store.vault.rotate(store.vault.group()) }
      case 12: _ = try await store.vault.verify()
      case 13: _ = try await store.vault.readAuditLog(of: store.vault.group())
      case 14: _ = try await store.vault.reopened().status()
      default:
        try await file.set(["left": .string(text), "right": .string(text)])
        try await file.reload()
      }
    }
  }
#endif
