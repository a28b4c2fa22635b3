import Foundation
import VaultCore
import VaultSealing

/// What this implementation finds, through its public interface, in the manifest's own words.
struct VectorRun {
  let path: String
  let deviceKey: String?

  func withoutKey() -> VectorManifest.NoKey {
    do throws(VaultError) {
      let summary = try VaultInfo(at: path)
      return .init(ok: true, entries: summary.entryCount, tornTail: summary.hasTornTail)
    } catch { return .init(error: error.code.rawValue) }
  }

  func opened(by attempt: VectorManifest.Attempt) -> VectorManifest.Expectation {
    do throws(VaultError) {
      let vault = try open(attempt)
      let status = try vault.status()
      var groups: [String: VectorManifest.Group] = [:]
      for (group, status) in zip(try vault.groups(), status.groups) {
        var records: [VectorManifest.Record] = []
        for info in try vault.records(in: group) { records.append(try record(info, group, vault)) }
        groups[status.name.text] = .init(
          epoch: status.epoch, generation: status.generation, tag: status.tag.description, records: records,
          removed: try removed(group, vault))
      }
      return .init(
        owner: status.isOwner, generation: status.generation, entries: status.entryCount,
        tornTail: status.hasTornTail, groups: groups)
    } catch { return .init(error: error.code.rawValue) }
  }

  /// The errors of looking up groups by name, as the attempt's `refused_groups`.
  func refusedGroups(by attempt: VectorManifest.Attempt) -> [String: String]? {
    attempt.refusedGroups.map { groups in
      var found: [String: String] = [:]
      for name in groups.keys {
        do throws(VaultError) { _ = try open(attempt).group(named: name) } catch { found[name] = error.code.rawValue }
      }
      return found
    }
  }

  private func open(_ attempt: VectorManifest.Attempt) throws(VaultError) -> Vault {
    var options = Vault.Options()
    if let text = attempt.deviceKey ?? deviceKey, text != "none" { options.deviceKey = try key(text) }
    return try Vault.open(at: path, credential: try attempt.credential.credential(), options: options)
  }

  private func key(_ text: String) throws(VaultError) -> SealingKey {
    return try KeyText.parse(Array(text.utf8).span.bytes)
  }

  private func record(
    _ info: RecordInfo, _ group: AccessGroup, _ vault: Vault
  ) throws(VaultError) -> VectorManifest.Record {
    var found = VectorManifest.Record(
      service: .init(utf8: info.service.utf8), key: .init(utf8: info.key.utf8), kind: info.kind.rawValue,
      class: info.accessibility.rawValue,
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

  /// `nil` if there are none.
  private func removed(_ group: AccessGroup, _ vault: Vault) throws(VaultError) -> [VectorManifest.Removed]? {
    var found: [VectorManifest.Removed] = []
    for record in try vault.removedRecords(in: group) {
      var removed = VectorManifest.Removed(
        service: .init(utf8: record.service.utf8), key: .init(utf8: record.key.utf8),
        class: record.accessibility.rawValue, revision: record.revision, created: record.created,
        removed: record.removed, keptUntil: record.keptUntil)
      do throws(VaultError) {
        var previous: [VectorManifest.Previous] = []
        for kept in record.previous {
          let (text, hex) = try vault.withValue(of: record, previous: kept.revision, in: group, Self.rendered)!
          previous.append(
            .init(revision: kept.revision, modified: kept.modified, kind: kept.kind.rawValue, text: text, hex: hex))
        }
        if !previous.isEmpty { removed.previous = previous }
      } catch { removed.previousError = error.code.rawValue }
      if !record.extensionItems.isEmpty {
        removed.extension = record.extensionItems.map { .init(tag: $0.tag, hex: hexadecimal($0.data)) }
      }
      found.append(removed)
    }
    return found.isEmpty ? nil : found
  }

  private static func rendered(_ kind: ValueKind, _ value: RawSpan) -> (VectorManifest.Text?, String?) {
    let bytes = value.withUnsafeBytes { Array($0) }
    return [.string, .url, .json].contains(kind) ? (.init(utf8: bytes), nil) : (nil, hexadecimal(bytes))
  }
}

extension VectorManifest.Attempt.Secret {
  func credential() throws(VaultError) -> Vault.Credential {
    if let passphrase { return try .passphrase(passphrase) }
    if let identity {
      let text = Array(identity.utf8)
      return try .identity(VaultIdentity(text: text.span.bytes), trusting: VaultPin(pin ?? ""))
    }
    return try .key(text: Array((key ?? "").utf8).span.bytes)
  }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
