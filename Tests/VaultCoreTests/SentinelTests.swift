import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// A value, a key, a service and a passphrase that must turn up nowhere: in no error, description or file.
struct SentinelTests {
  private static let sentinel = "SENTINEL-5f3a"
  private static let secret = "value " + sentinel
  private static let key = "key " + sentinel
  private static let service = "service " + sentinel
  private static let passphrase = "passphrase " + sentinel

  /// Everything that an error says of itself, its cause included.
  private static func texts(_ error: any Error) -> String {
    var dumped = ""
    dump(error, to: &dumped)
    return "\(error) \(String(reflecting: error)) \(error.localizedDescription) \(dumped)"
  }

  private final class Collector: Sendable {
    let texts = Mutex<[String]>([])
    let codes = Mutex<Set<VaultError.Code>>([])

    func provoke<R>(_ body: () throws -> R) {
      do {
        _ = try body()
        Issue.record("nothing was refused")
      } catch {
        texts.withLock { $0.append(SentinelTests.texts(error)) }
        if let error = error as? VaultError { codes.withLock { _ = $0.insert(error.code) } }
      }
    }
  }

  private static func vault(at path: String, options: Vault.Options = .sample()) throws -> Vault {
    let slots = [
      NewSlot(try .passphrase(passphrase), label: "owner", cost: .throwaway), NewSlot(.key(try .sample())),
    ]
    let vault = try Vault.create(at: path, slots: slots, options: options)
    try vault.set(secret, forKey: key, service: service)
    return vault
  }

  @Test func `item 120: no error repeats a value, a name or a passphrase`() throws {
    let found = Collector()
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(50)
      let vault = try Self.vault(at: path, options: options)
      let (service, group) = (try Vault.Name(Self.service), try vault.group())
      let bytes = Array(Self.secret.utf8)
      let long = Array(repeatElement(bytes, count: 100_000).joined())

      // The caller's input.
      found.provoke { try Vault.Name(Self.key + "\n") }
      found.provoke { try vault.set(Self.secret, forKey: Self.key + "\n", service: Self.service) }
      found.provoke { try vault.text(Self.key + "\n", service: Self.service) }
      found.provoke { try vault.group(named: Self.key) }
      found.provoke { try vault.set(bytes, kind: .bool, forKey: Self.key, service: Self.service) }
      found.provoke { try vault.set(bytes, kind: .integer, forKey: Self.key, service: Self.service) }
      found.provoke { try vault.set(long, forKey: Self.key, service: Self.service) }
      found.provoke { _ = try Vault.Credential.key(text: Array(Self.sentinel.utf8).span.bytes) }
      found.provoke { _ = try Vault.Credential.passphrase(String(repeating: Self.passphrase, count: 1000)) }
      // Access and the file system.
      found.provoke { try Vault.open(at: path, credential: .passphrase(Self.passphrase + "!")) }
      found.provoke { try Self.vault(at: path) }
      found.provoke { try Vault.opened(at: path + ".missing") }
      found.provoke { try Vault.create(at: path + ".none", slots: []) }
      let lock = try ForeignLock(on: path)
      found.provoke { try vault.set(Self.secret, forKey: Self.key, service: Self.service) }
      lock.release()
      try #require(link(path, path + ".second") == 0)
      found.provoke { try vault.set(Self.secret, forKey: Self.key, service: Self.service) }
      try #require(unlink(path + ".second") == 0)
      try setMode(0o644, of: path)
      found.provoke { try Vault.opened(at: path) }
      try setMode(0o600, of: path)
      // Files that were forged or damaged.
      for file in try Self.forgeries(path) {
        try FileBytes.write(file, to: path)
        found.provoke {
          let forged = try Vault.opened(at: path)
          for record in try forged.records(in: group) {
            _ = try forged.withValue(of: record, in: group) { _, _ in }
          }
        }
        found.provoke { try vault.withValue(service: service, key: Self.key, in: group) { _, _ in } }
      }
      try #require(unlink(path) == 0)
      found.provoke { try vault.set(Self.secret, forKey: Self.key, service: Self.service) }
    }

    #expect(found.texts.withLock { $0.filter { $0.contains(Self.sentinel) } } == [])
    let codes: Set<VaultError.Code> = [
      .invalidName, .groupNotGranted, .typeMismatch, .valueTooLarge, .invalidKeyText, .invalidPassphrase,
      .credentialRejected, .alreadyExists, .notFound, .lastOwnerSlot, .lockTimeout, .hardLinked,
      .insecurePermissions, .damaged, .tampered, .malformed, .notAVault,
    ]
    #expect(codes.subtracting(found.codes.withLock { $0 }) == [])
  }

  /// Files whose records bear the sentinel and that are refused: by the reader, or when the value is opened.
  private static func forgeries(_ path: String) throws -> [[UInt8]] {
    let file = try FileBytes.read(path)
    let parts = try Parts(file)
    let holder = try KeyHolder(file)
    func entry(_ change: (inout RecordDraft) -> Void) throws -> [UInt8] {
      var (parts, record) = (parts, RecordDraft(key, revision: 3))
      record.service = Array(service.utf8)
      record.value = Array(secret.utf8)
      change(&record)
      parts.entries.append(try holder.entry(EntryDraft(generation: 3, changes: [.put(record)])))
      return parts.file
    }
    return [
      try entry { $0.kind = 3 },
      try entry { $0.sealed = [UInt8](repeating: 0, count: 80) },
      try entry { $0.revision = 9 },
      try entry { $0.key.append(9) },
      try entry { $0.extensionField = extensionItem(1, Array(sentinel.utf8) + [0xFF]) },
      file.flipping(bit: 0, at: 1000),
      Array(sentinel.utf8),
    ]
  }

  @Test func `item 111: the file holds neither values nor names, before and after a fold`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Self.vault(at: path)
      var files = [try FileBytes.read(path)]
      try vault.fold()
      files.append(try FileBytes.read(path))
      try vault.set(Self.secret, forKey: Self.key, service: Self.service)
      files.append(try FileBytes.read(path))

      for file in files {
        for text in [Self.sentinel, "default", "owner", "service", "passphrase"] {
          let isThere = Data(file).range(of: Data(text.utf8)) != nil
          #expect(!isThere, "\(text)")
        }
      }
      #expect(try vault.text(Self.key, service: Self.service) == Self.secret)
    }
  }

  @Test func `item 120: printing a vault, its options and its slots shows no value and no passphrase`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Self.vault(at: directory + "/vault.spv")
      let slot = NewSlot(try .passphrase(Self.passphrase), cost: .throwaway)
      var texts = ["\(vault)", String(reflecting: vault), "\(slot)", String(reflecting: slot)]
      for thing in [vault, slot, try vault.status(), try VaultInfo(at: directory + "/vault.spv")] as [Any] {
        var dumped = ""
        dump(thing, to: &dumped)
        texts.append(dumped)
      }

      #expect(texts.filter { $0.contains(Self.sentinel) } == [])
    }
  }
}
