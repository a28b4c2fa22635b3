import Foundation
import VaultCore
import VaultSealing

/// A directory of vector files with its manifest, in the format of `Vectors/README.md`.
struct VectorManifest: Decodable {
  let vectors: [Vector]
  let deviceKey: String?

  enum CodingKeys: String, CodingKey { case vectors, deviceKey = "device_key" }

  struct Vector: Decodable, CustomStringConvertible {
    let file: String
    let noKey: NoKey
    let open: [Attempt]

    enum CodingKeys: String, CodingKey { case file, open, noKey = "no_key" }

    var description: String { file }
  }

  struct NoKey: Decodable, Equatable {
    var ok: Bool?
    var entries: Int?
    var tornTail: Bool?
    var error: String?

    enum CodingKeys: String, CodingKey { case ok, entries, error, tornTail = "torn_tail" }
  }

  struct Attempt: Decodable {
    let credential: Secret
    let expect: Expectation

    struct Secret: Decodable { let passphrase, key: String? }
  }

  struct Expectation: Decodable, Equatable {
    var error: String?
    var owner: Bool?
    var generation: UInt64?
    var entries: Int?
    var tornTail: Bool?
    var groups: [String: Group]?

    enum CodingKeys: String, CodingKey {
      case error, owner, entries, groups, generation = "vault_generation", tornTail = "torn_tail"
    }
  }

  struct Group: Decodable, Equatable {
    let epoch: UInt32
    let generation: UInt64
    let tag: String
    let records: [Record]
  }

  struct Record: Decodable, Equatable {
    var service: String
    var key: String
    var kind: UInt8
    var `class`: UInt8
    var revision: UInt64
    var created: Int64
    var modified: Int64
    var text: String?
    var hex: String?
    var error: String?
    var previous: [Previous]?
    var previousError: String?
    var `extension`: [ExtensionItem]?

    enum CodingKeys: String, CodingKey {
      case service, key, kind, `class`, revision, created, modified, text, hex, error, previous, `extension`
      case previousError = "previous_error"
    }
  }

  struct Previous: Decodable, Equatable {
    let revision: UInt64
    let modified: Int64
    let kind: UInt8
    let text: String?
    let hex: String?
  }

  struct ExtensionItem: Decodable, Equatable {
    let tag: UInt16
    let hex: String

    init(tag: UInt16, hex: String) { (self.tag, self.hex) = (tag, hex) }

    init(from decoder: any Decoder) throws {
      var items = try decoder.unkeyedContainer()
      (tag, hex) = (try items.decode(UInt16.self), try items.decode(String.self))
    }
  }

  init(directory: URL) throws {
    let data = try Data(contentsOf: directory.appending(path: "manifest.json"))
    self = try JSONDecoder().decode(VectorManifest.self, from: data)
  }
}

/// What this implementation finds, through its public interface, in the manifest's own words.
struct VectorRun {
  let path: String
  let deviceKey: String?

  func withoutKey() -> VectorManifest.NoKey {
    do throws(VaultError) {
      let summary = try VaultSummary(at: path)
      return .init(ok: true, entries: summary.entryCount, tornTail: summary.hasTornTail)
    } catch { return .init(error: error.code.rawValue) }
  }

  func opened(with secret: VectorManifest.Attempt.Secret) -> VectorManifest.Expectation {
    do throws(VaultError) {
      var options = Vault.Options()
      if let deviceKey { options.deviceKey = try key(deviceKey) }
      let vault = try Vault.open(at: path, credential: try credential(secret), options: options)
      let status = try vault.status()
      var groups: [String: VectorManifest.Group] = [:]
      for (group, status) in zip(try vault.groups(), status.groups) {
        var records: [VectorManifest.Record] = []
        for info in try vault.records(in: group) { records.append(try record(info, group, vault)) }
        groups[status.name.text] = .init(
          epoch: status.epoch, generation: status.generation, tag: status.tag.description, records: records)
      }
      return .init(
        owner: status.isOwner, generation: status.generation, entries: status.entryCount,
        tornTail: status.hasTornTail, groups: groups)
    } catch { return .init(error: error.code.rawValue) }
  }

  private func credential(_ secret: VectorManifest.Attempt.Secret) throws(VaultError) -> Credential {
    if let passphrase = secret.passphrase { return try .passphrase(passphrase) }
    return .key(try key(secret.key ?? ""))
  }

  private func key(_ text: String) throws(VaultError) -> SealingKey {
    do throws(SealingError) { return try KeyText.parse(Array(text.utf8).span.bytes) } catch { throw VaultError(error) }
  }

  private func record(
    _ info: RecordInfo, _ group: AccessGroup, _ vault: Vault
  ) throws(VaultError) -> VectorManifest.Record {
    var found = VectorManifest.Record(
      service: info.service.text, key: info.key.text, kind: info.kind.rawValue, class: info.accessibility.rawValue,
      revision: info.revision, created: info.created, modified: info.modified)
    do throws(VaultError) {
      (found.text, found.hex) = try vault.withValue(of: info, in: group, Self.rendered)!
    } catch { found.error = error.code.rawValue }
    do throws(VaultError) {
      var previous: [VectorManifest.Previous] = []
      for kept in info.previous {
        let (text, hex) = try vault.withValue(of: info, previous: kept.revision, in: group, Self.rendered)!
        previous.append(
          .init(revision: kept.revision, modified: kept.modified, kind: kept.kind.rawValue, text: text, hex: hex))
      }
      if !previous.isEmpty { found.previous = previous }
    } catch { found.previousError = error.code.rawValue }
    if !info.extensionItems.isEmpty {
      found.extension = info.extensionItems.map { .init(tag: $0.tag, hex: hexadecimal($0.data)) }
    }
    return found
  }

  private static func rendered(_ kind: ValueKind, _ value: UnsafeRawBufferPointer) -> (String?, String?) {
    [.string, .url, .json].contains(kind)
      ? (String(decoding: value, as: UTF8.self), nil) : (nil, hexadecimal(Array(value)))
  }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
