import Foundation
import Secrets
import SecretsTesting
import Testing

/// Damaged vault files, as a store sees them.
struct DamagedVaultTests {
  private let throwaway: ThrowawayVault
  private let bytes: [UInt8]
  private let written = ["one": ["first", "second"], "two": ["text"]]

  init() throws {
    throwaway = try ThrowawayVault()
    let store = try throwaway.preferences()
    for (key, texts) in written.sorted(by: { $0.key < $1.key }) {
      for text in texts { try store.set(text, forKey: key) }
    }
    bytes = Array(try Data(contentsOf: URL(filePath: throwaway.path)))
  }

  /// Puts `damaged` beside the vault, and reads all values of a store over it.
  ///
  /// - Returns: whether the values are those of the undamaged vault.
  private func read(_ damaged: [UInt8]) throws -> Bool {
    let path = throwaway.path + ".damaged"
    try Data(damaged).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    defer { unlink(path) }
    let store = try SecretPreferences(
      service: "com.example.test", in: Vault.open(at: path, credential: .key(throwaway.key)))
    var isWhole = true
    for (key, texts) in written {
      let text = try store.string(forKey: key)
      // A torn tail takes away the last writes, so an earlier value or none is right; a text that was never written is
      // not.
      if let text { #expect(texts.contains(text), "\(key)") }
      isWhole = isWhole && text == texts.last
    }
    return isWhole
  }

  @Test func `item 61: a vault with one bit changed gives written values or a vault error`() throws {
    #expect(try read(bytes))
    var refused = 0
    // Opening a damaged file takes a tenth of a second: it is read again, in case another process is writing it.
    let used = bytes.indices.filter { bytes[$0] != 0 }
    for index in stride(from: 0, to: used.count, by: used.count / 48).map({ used[$0] }) {
      var damaged = bytes
      damaged[index] ^= 1 << UInt8(index % 8)
      do { _ = try read(damaged) } catch {
        #expect(error is VaultError, "byte \(index)")
        refused += 1
      }
    }
    #expect(refused > 10)
  }

  @Test func `item 61: a vault that is cut short gives written values or a vault error`() throws {
    var refused = 0
    for count in stride(from: 0, to: bytes.count, by: 1_511) {
      do { _ = try read(Array(bytes.prefix(count))) } catch {
        #expect(error is VaultError, "\(count) bytes")
        refused += 1
      }
    }
    #expect(refused > 0)
  }
}
