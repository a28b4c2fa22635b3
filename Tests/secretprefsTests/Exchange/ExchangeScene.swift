import Foundation
import Secrets
import Testing
import VaultCore

/// A vault that the tool and the library share.
struct ExchangeScene {
  let home: Scratch
  let vault: Vault
  let group: AccessGroup

  init() throws {
    home = try Scratch()
    let made = try Tool.run(["init", "--vault", "v.spv", "--key-file", "k"], in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    vault = try Vault.open(at: home.file("v.spv"), unlocking: .keyFile(home.file("k")))
    group = try vault.group()
  }

  /// Runs a line of shell for this vault.
  func shell(_ line: String) throws -> Tool.Outcome {
    try Tool.shell("export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k; " + line, in: home)
  }

  func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(filePath: home.file(name))) }

  /// The bytes of the vault's file.
  var file: Data { get throws { try Data(contentsOf: URL(filePath: home.file("v.spv"))) } }

  func store(_ values: [String: [UInt8]], service: String) throws {
    try vault.transaction(service: try Vault.Name(service), in: group) { (batch) throws(VaultError) in
      for (key, value) in values {
        let kind: ValueKind = String(validating: value, as: UTF8.self) == nil ? .data : .string
        try batch.set(value.span.bytes, kind: kind, forKey: key)
      }
    }
  }

  /// All values of a service.
  func values(service: String) throws -> [String: [UInt8]] {
    let service = try Vault.Name(service)
    var values: [String: [UInt8]] = [:]
    for key in try vault.keys(service: service, in: group) {
      values[key] = try vault.withValue(service: service, key: key, in: group) { _, bytes in
        bytes.withUnsafeBytes { Array($0) }
      }
    }
    return values
  }

  func texts(service: String) throws -> [String: String] {
    try values(service: service).mapValues { String(decoding: $0, as: UTF8.self) }
  }
}
