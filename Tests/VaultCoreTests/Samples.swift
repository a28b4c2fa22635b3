import CVaultSodium
import Foundation
import Glibc
import Synchronization
import Testing
import VaultCore
import VaultSealing

extension RandomSource {
  /// The endless sequence of annex A: `B(64,"",s ‖ u64(0)) ‖ B(64,"",s ‖ u64(1)) ‖ …`, consumed in order of use.
  static func sequence(seed: String) -> RandomSource {
    let stream = Mutex((block: UInt64(0), rest: [UInt8]()))
    return RandomSource { buffer in
      stream.withLock { stream in
        while stream.rest.count < buffer.count {
          let input = Array(seed.utf8) + withUnsafeBytes(of: stream.block.littleEndian) { Array($0) }
          stream.rest += blake2b(input)
          stream.block += 1
        }
        buffer.copyBytes(from: stream.rest.prefix(buffer.count))
        stream.rest.removeFirst(buffer.count)
      }
    }
  }
}

extension SealingKey {
  convenience init(copying bytes: [UInt8]) throws {
    try self.init(from: RandomSource { $0.copyBytes(from: bytes) })
  }
}

extension Vault.Transaction {
  mutating func set(_ text: String, forKey key: String) throws(VaultError) {
    let bytes = Array(text.utf8)
    try set(bytes.span.bytes, kind: .string, forKey: key)
  }
}

extension Vault.Transaction {
  mutating func set(_ bytes: [UInt8], kind: ValueKind = .data, forKey key: String) throws(VaultError) {
    try set(bytes.span.bytes, kind: kind, forKey: key)
  }
}

extension SealingKey {
  /// 32 bytes that count up; those of annex A from 0.
  static func sample(from first: UInt8 = 0) throws -> SealingKey {
    try SealingKey(copying: (0..<32).map { first &+ UInt8($0) })
  }
}

extension Vault.Options {
  /// Fixed random bytes, a clock that does not advance and a small reserve.
  static func sample(seed: String = "sample", reserve: Int = 64) -> Vault.Options {
    var options = Vault.Options()
    // A machine that does much else at once makes no test fail.
    options.lockTimeout = .seconds(600)
    options.random = .sequence(seed: seed)
    options.now = { 1_700_000_000_000 }
    options.reserveBytes = reserve
    return options
  }
}

extension Vault {
  /// A vault that the raw key ``SealingKey/sample(from:)`` opens, with db/password in the group `default`.
  static func sample(
    at path: String, groups: [NewGroup] = [.sample()], options: Options = .sample()
  ) throws -> Vault {
    try create(
      in: stored(path, options), slots: [NewSlot(.key(try .sample()), label: "owner")], groups: groups,
      options: options)
  }

  /// Opens a vault that ``sample(at:groups:options:)`` made.
  static func opened(at path: String, options: Options = .sample(seed: "opened")) throws -> Vault {
    try open(in: stored(path, options), credential: .key(try .sample()), options: options)
  }

  func set(
    _ text: String, forKey key: String, service: String = "db", in group: String = "default"
  ) throws(VaultError) {
    try transaction(service: Vault.Name(service), in: self.group(named: group)) { batch throws(VaultError) in
      try batch.set(text, forKey: key)
    }
  }

  func set(
    _ bytes: [UInt8], kind: ValueKind = .data, forKey key: String, service: String = "db"
  ) throws(VaultError) {
    try transaction(service: Vault.Name(service), in: group()) { batch throws(VaultError) in
      try batch.set(bytes, kind: kind, forKey: key)
    }
  }

  /// Sets without blocking the caller's thread.
  func commit(_ text: String, forKey key: String) async throws(VaultError) {
    try await transaction(service: Vault.Name("db"), in: group()) { batch throws(VaultError) in
      try batch.set(text, forKey: key)
    }
  }

  @discardableResult
  func remove(_ key: String, in group: String = "default") throws(VaultError) -> Int {
    try transaction(service: Vault.Name("db"), in: self.group(named: group)) { batch throws(VaultError) in
      try batch.remove(key)
    }
  }

  /// Sets a value that is too long for the journal of a small vault, so that the vault is folded.
  func fold(forKey key: String = "long") throws(VaultError) {
    try set([UInt8](repeating: 0x61, count: 70_000), forKey: key)
  }

  func text(
    _ key: String, service: String = "db", in group: String = "default"
  ) throws(VaultError) -> String? {
    try withValue(service: Vault.Name(service), key: key, in: self.group(named: group)) { _, bytes in
      String(bytes)
    }
  }

  func bytes(_ key: String, service: String = "db") throws(VaultError) -> [UInt8]? {
    try withValue(service: Vault.Name(service), key: key, in: group()) { _, bytes in bytes.withUnsafeBytes { Array($0) }
    }
  }

  func allKeys(service: String = "db", in group: String = "default") throws(VaultError) -> [String] {
    try keys(service: Vault.Name(service), in: self.group(named: group))
  }
}

extension NewGroup {
  /// A group with one record, db/password = s3cret.
  static func sample(_ name: String = AccessGroup.defaultName) -> NewGroup {
    NewGroup(name, service: "db") { batch throws(VaultError) in try batch.set("s3cret", forKey: "password") }
  }
}

/// The class that `body` is refused with; `nil` when it is not refused.
func refusal<R>(of body: () throws -> R) -> VaultError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as VaultError {
    return error.code
  } catch {
    Issue.record(error)
    return nil
  }
}

/// A whole file's bytes.
enum FileBytes {
  static func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

  /// Writes into the file that is there, or makes one of 0600.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let raw = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(raw >= 0)
    defer { close(raw) }
    try #require(bytes.withUnsafeBytes { pwrite(raw, $0.baseAddress, $0.count, 0) } == bytes.count)
  }

  static func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
  }
}

private func blake2b(_ bytes: [UInt8]) -> [UInt8] {
  var out = [UInt8](repeating: 0, count: 64)
  crypto_generichash(&out, out.count, bytes, UInt64(bytes.count), nil, 0)
  return out
}

extension String {
  /// The text that lent bytes are.
  init(_ utf8: RawSpan) { self = utf8.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
