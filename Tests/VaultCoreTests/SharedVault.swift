import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// A vault of several access groups, each with db/password. The raw key ``SealingKey/sample(from:)`` opens all of
/// it; each group has a holder besides, with a raw key of its own.
struct SharedVault: Sendable {
  let path: String
  let owner: Vault
  let groups: [String]

  static func with<R>(
    groups: [String] = ["default", "one", "two"], reserve: Int = 64, _ body: (SharedVault) throws -> R
  ) throws -> R {
    try TemporaryDirectory.with { directory in
      try body(SharedVault(at: directory + "/vault.spv", groups: groups, reserve: reserve))
    }
  }

  static func with<R>(
    groups: [String] = ["default", "one", "two"], reserve: Int = 64, _ body: (SharedVault) async throws -> R
  ) async throws -> R {
    try await TemporaryDirectory.with { directory in
      try await body(SharedVault(at: directory + "/vault.spv", groups: groups, reserve: reserve))
    }
  }

  private init(at path: String, groups: [String], reserve: Int) throws {
    self.path = path
    self.groups = groups
    owner = try Vault.sample(
      at: path, groups: groups.map { NewGroup.sample($0) }, options: .sample(seed: "owner", reserve: reserve))
    for group in groups {
      let credential = try credential(of: group)
      try owner.addSlot(NewSlot(credential, label: group), granting: owner.group(named: group))
    }
  }

  /// The credential of a group's holder.
  func credential(of group: String) throws -> Vault.Credential {
    let number = try #require(groups.firstIndex(of: group))
    return .key(try .sample(from: UInt8(40 * (number + 1))))
  }

  /// A handle of the group's holder.
  func holder(of group: String, seed: String = "holder", reserve: Int = 64) throws -> Vault {
    let options = Vault.Options.sample(seed: seed + group, reserve: reserve)
    return try Vault.open(in: stored(path, options), credential: credential(of: group), options: options)
  }

  /// A second handle of the owner.
  func secondOwner(seed: String = "second owner") throws -> Vault {
    try Vault.opened(at: path, options: .sample(seed: seed))
  }

  /// The slot of that label.
  func slot(_ label: String) throws -> Vault.Identifier {
    try #require(try owner.slots().first { $0.label == label }).id
  }

  var bytes: [UInt8] { get throws { try VaultBytes.read(path) } }
  var parts: Parts { get throws { try Parts(VaultBytes.read(path)) } }

  /// What the owner's load finds out, every group verified.
  var loaded: VaultState { get throws { try MemoryVault(bytes, key: .sample()).state } }

  /// Whether zeros of this number follow the last entry. Of other storages than files, none are needed.
  func hasReserve(_ count: Int) throws -> Bool {
    guard try stored(path) is FileStorage else { return true }
    return try parts.reserve == [UInt8](repeating: 0, count: count)
  }

  /// The index of the group's section in the file.
  func position(of group: String) throws -> Int {
    try #require(try loaded.manifest?.groups.firstIndex { $0.name.text == group })
  }

  /// Rises with each full write.
  var generation: UInt64 { get throws { try Snapshot(FileImage(bytes)).generation } }

  func epoch(of group: String) throws -> UInt32 { try loaded.groups[position(of: group)].section.epoch }
}

extension Vault {
  /// What opening with `credential` is refused with; `nil` when it opens and every granted group verifies.
  static func refusal(at path: String, _ credential: Vault.Credential) -> VaultError.Code? {
    VaultCoreTests.refusal { try Vault.open(in: stored(path), credential: credential).status() }
  }

  /// The names of the granted groups, in order.
  func groupNames() throws -> [String] { try groups().map(\.name.text).sorted() }
}

/// Expects that `body` is refused with `code` and leaves the vault at `path` alone.
func expectRefused<R>(
  _ code: VaultError.Code, at path: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> R
) throws {
  let before = try VaultBytes.read(path)
  #expect(refusal(of: body) == code, sourceLocation: sourceLocation)
  #expect(try VaultBytes.read(path) == before, sourceLocation: sourceLocation)
  #expect(leavesNothing(beside: path), sourceLocation: sourceLocation)
}

/// All that can be read of one record, earlier values included.
struct RecordImage: Equatable {
  let service, key: Vault.Name
  let kind: UInt8
  let `class`: UInt8
  let revision: UInt64
  let created, modified: Int64
  /// The value's bytes, or what opening it is refused with.
  let value: Value
  let previous: [Previous]
  var extensionItems: [Item]

  enum Value: Equatable {
    case bytes([UInt8])
    case refused(VaultError.Code)
  }

  struct Previous: Equatable {
    let revision: UInt64
    let modified: Int64
    let kind: UInt8
    let value: Value
  }

  struct Item: Equatable {
    let tag: UInt16
    let data: [UInt8]
  }

  init(_ info: RecordInfo, _ group: AccessGroup, _ vault: Vault) throws {
    (service, key, kind) = (info.service, info.key, info.kind.rawValue)
    (`class`, revision, created, modified) = (info.accessibility.rawValue, info.revision, info.created, info.modified)
    func value(_ previous: UInt64? = nil) throws -> Value {
      do throws(VaultError) {
        return .bytes(try vault.withValue(of: info, previous: previous, in: group) { _, bytes in bytes.copy }!)
      } catch { return .refused(error.code) }
    }
    self.value = try value()
    previous = try info.previous.map {
      Previous(revision: $0.revision, modified: $0.modified, kind: $0.kind.rawValue, value: try value($0.revision))
    }
    extensionItems = info.extensionItems.map { Item(tag: $0.tag, data: $0.data) }
  }
}

extension Vault {
  /// All that this handle can read, by group name.
  func contents() throws -> [String: [RecordImage]] {
    var contents: [String: [RecordImage]] = [:]
    for group in try groups() {
      contents[group.name.text] = try records(in: group).map { try RecordImage($0, group, self) }
    }
    return contents
  }
}

/// A copy of a vector in a directory of its own.
enum VectorFile {
  /// What opens every vector as its owner, and as the holder of `ci`.
  static let owner = "spv-key-1:9ced69111d98612e7f1545e02b0d876abf4602997baf8e94628f814a47130593"
  static let holder = "spv-key-1:ffe7591dac16bbea70454fa3ad9119f2497de27910acc273443e0cb71b8a9829"

  static func with<R>(_ name: String, _ body: (_ path: String) throws -> R) throws -> R {
    try TemporaryDirectory.with { directory in
      let directoryOfVectors = try #require(Bundle.module.resourcePath) + "/Vectors/"
      try VaultBytes.write(FileBytes.read(directoryOfVectors + name), to: directory + "/vault.spv")
      return try body(directory + "/vault.spv")
    }
  }

  /// - Parameter deviceKey: the first byte of the device key; the vectors' own is 0x20.
  static func open(
    _ path: String, with key: String = owner, deviceKey: UInt8? = nil, seed: String = "vector"
  ) throws -> Vault {
    var options = Vault.Options.sample(seed: seed)
    options.deviceKey = try deviceKey.map { try .sample(from: $0) }
    return try Vault.open(in: stored(path), credential: .key(text: Array(key.utf8).span.bytes), options: options)
  }
}

extension [UInt8] {
  /// Whether `other` occurs anywhere in these bytes.
  func contains(bytes other: [UInt8]) -> Bool { Data(self).range(of: Data(other)) != nil }
}

extension KeyHolder {
  /// The file with one more slot, listed in the manifest as an owner would. For files without entries.
  static func adding(_ slot: [UInt8], to file: [UInt8]) throws -> [UInt8] {
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    var manifest = try #require(try MemoryVault(file, key: .sample()).state.manifest)
    parts.slots.append(slot)
    manifest.slots.append(
      Manifest.SlotLine(id: Vault.Identifier(Array(slot[8..<24])), kek: nil, created: 7, label: Array("unknown".utf8)))
    try holder.replaceManifest(&parts, padded: manifest.padded().withSpan { $0.copy })
    return parts.file
  }

  /// The first group's section empty, with these numbers in header, section and manifest: right, and near the end of
  /// what can be counted.
  static func counted(
    _ file: [UInt8], vaultGeneration: UInt64 = 1, generation: UInt64 = 1, epoch: UInt32 = 1
  ) throws -> [UInt8] {
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    var draft = SectionDraft(generation: generation, baseTag: .zero)
    draft.records = []
    let key = try VaultState.groupKey(from: holder.vaultKey, group: holder.group, epoch: epoch, holder.sealer)
    parts.sections[0].epoch = epoch
    parts.sections[0].sealed = holder.seal(
      padded(try draft.body(holder), step: GroupContent.sectionStep), with: key,
      as: .section(vault: holder.vaultID, group: holder.group, epoch: epoch))
    parts.head.store(vaultGeneration, at: 32)
    var manifest = try #require(try MemoryVault(file, key: .sample()).state.manifest)
    manifest.groups[0] = Manifest.GroupLine(
      id: holder.group, epoch: epoch, floorGeneration: generation, floorTag: parts.sections[0].tag,
      name: manifest.groups[0].name)
    try holder.replaceManifest(&parts, padded: manifest.padded().withSpan { $0.copy })
    return parts.file
  }
}
