import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// A vault of three groups with everything that records can have, in sections and in entries, and what is to be saved
/// of it. The raw key ``SealingKey/sample(from:)`` opens it, and each group has a holder.
struct SalvageSample {
  let directory: String
  let file: [UInt8]
  let original: Vault
  let contents: [String: [RecordImage]]
  let sections: [Snapshot.Section]
  let manifest: Range<Int>
  let snapshotCount: Int
  let entryRanges: [Range<Int>]
  let ids: [String: Vault.Identifier]
  let known: [Vault.Identifier: Set<RecordImage.Core>]

  let names = ["default", "one", "two"]

  /// Options with the device's key.
  var options: Vault.Options {
    get throws {
      var options = Vault.Options.sample(seed: "salvage")
      options.deviceKey = try .sample(from: 0x20)
      return options
    }
  }

  var journalEnd: Int { entryRanges.last?.upperBound ?? snapshotCount }

  static let made = Result { try make() }

  /// Made once, for it is many writes.
  static func make() throws -> (file: [UInt8], known: [Vault.Identifier: Set<RecordImage.Core>]) {
    try SharedVault.with { shared in
      var options = Vault.Options.sample(seed: "sample to salvage")
      options.deviceKey = try .sample(from: 0x20)
      let vault = try Vault.opened(at: shared.path, options: options)
      var known: [Vault.Identifier: Set<RecordImage.Core>] = [:]
      func note() throws {
        for group in try vault.groups() {
          known[group.id, default: []].formUnion(
            try vault.records(in: group).map { try RecordImage($0, group, vault).core })
        }
      }
      try note()
      for name in shared.groups {
        let group = try vault.group(named: name)
        try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
          var history = RecordEdit()
          history.historyDepth = .set(2)
          try batch.set(Array("oldest \(name)".utf8), forKey: "history", .whenUnlocked, history)
          var all = RecordEdit()
          all.label = .set("label \(name)")
          all.comment = .set("comment")
          all.expiry = .set(1_900_000_000_000)
          all.attributes = .set([try .init("team", [1, 2, 3])])
          try batch.set(Array("with \(name)".utf8), forKey: "labelled", .whenUnlocked, all)
          try batch.set(Array("class 1 \(name)".utf8), forKey: "unlocked", .afterFirstUnlock)
          try batch.set(Array("bound".utf8), forKey: "device", .whenUnlockedThisDeviceOnly)
        }
        try vault.transaction(service: Vault.Name("web"), in: group) { batch throws(VaultError) in
          try batch.set([1], kind: .bool, forKey: "flag")
          try batch.set([UInt8](repeating: 0xD0, count: 300), forKey: "blob")
        }
        try note()
        for text in ["older", "old"] {
          try vault.set("\(text) \(name)", forKey: "history", in: name)
          try note()
        }
      }
      try vault.compact()
      for text in ["entry", "newer"] {
        for name in shared.groups {
          try vault.set("\(text) \(name)", forKey: text == "entry" ? "entry" : "history", in: name)
          try note()
        }
      }
      for name in shared.groups { try vault.remove("password", in: name) }
      return (try shared.bytes, known)
    }
  }

  static func with(_ body: (SalvageSample) throws -> Void) throws {
    let (file, known) = try made.get()
    try TemporaryDirectory.with { directory in
      try FileBytes.write(file, to: directory + "/vault.spv")
      try body(SalvageSample(file, known, in: directory))
    }
  }

  init(_ file: [UInt8], _ known: [Vault.Identifier: Set<RecordImage.Core>], in directory: String) throws {
    self.file = file
    self.known = known
    self.directory = directory
    var options = Vault.Options.sample(seed: "original")
    options.deviceKey = try .sample(from: 0x20)
    original = try Vault.opened(at: directory + "/vault.spv", options: options)
    contents = try original.contents()
    ids = Dictionary(uniqueKeysWithValues: try original.groups().map { ($0.name.text, $0.id) })
    let image = FileImage(file)
    let snapshot = try Snapshot(image)
    (sections, manifest, snapshotCount) = (snapshot.sections, snapshot.manifest, snapshot.count)
    entryRanges = try JournalFrame(image.span, from: snapshot.count, groups: Set(sections.map(\.id))).entries
      .map(\.range)
  }

  func position(of name: String) throws -> Int {
    let id = try #require(ids[name])
    return try #require(sections.firstIndex { $0.id == id })
  }

  func section(of name: String) throws -> Snapshot.Section { sections[try position(of: name)] }

  func group(ofEntry number: Int) throws -> String {
    let id = Array(file[entryRanges[number].lowerBound + 8..<entryRanges[number].lowerBound + 24])
    return try #require(ids.first { $0.value.bytes == id }).key
  }

  func credential(of name: String) throws -> Vault.Credential {
    .key(try .sample(from: UInt8(40 * (try #require(names.firstIndex(of: name)) + 1))))
  }

  func holder(of name: String, at path: String) throws -> Vault {
    try Vault.open(at: path, credential: credential(of: name), options: options)
  }

  struct Salvaged {
    let report: SalvageReport
    let vault: Vault
    let path: String
    let contents: [String: [RecordImage]]

    func recordCount(besides name: String) -> Int {
      report.groups.filter { $0.name.text != name }.reduce(0) { $0 + $1.recordCount }
    }
  }

  /// Salvages bytes in memory, which spares the disk, and opens what came out of it: every group and value verifies.
  func salvage(_ bytes: [UInt8], as holder: String? = nil) throws -> Salvaged {
    let credential = try holder.map { try self.credential(of: $0) } ?? .key(.sample())
    let (draft, _, report) = try Salvager(FileImage(bytes), credential, options).run()
    let path = directory + "/" + UUID().uuidString
    try FileBytes.write(draft.file(), to: path)
    let vault = try Vault.open(at: path, credential: credential, options: options)
    let values = try vault.verify().values
    #expect(values == report.groups.map(\.recordCount).reduce(0, +))
    return Salvaged(report: report, vault: vault, path: path, contents: try vault.contents())
  }

  /// Expects groups to be as they were, in every respect. Without the manifest an owner can learn no more of
  /// them, and each record is marked.
  func expectWhole(
    _ names: [String], in salvaged: Salvaged, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for name in names {
      let group = salvaged.report.groups.first { $0.name.text == name }
      let isCurrent = salvaged.report.hasManifest || !salvaged.report.isOwner
      #expect(group?.isVerified == isCurrent, comment, sourceLocation: sourceLocation)
      #expect(group?.isCurrent == isCurrent, comment, sourceLocation: sourceLocation)
      #expect(group?.lostEntryCount == 0, comment, sourceLocation: sourceLocation)
      #expect(group?.lostValueCount == 0, comment, sourceLocation: sourceLocation)
      let found = salvaged.contents[name]
      #expect(found?.map(\.unmarked) == contents[name], comment, sourceLocation: sourceLocation)
      #expect(found?.allSatisfy { $0.isMarked != isCurrent } == true, comment, sourceLocation: sourceLocation)
    }
  }

  /// Expects the values of a group, or earlier ones, but for so many records; and that each says where it comes from.
  func expectPart(
    of name: String, in salvaged: Salvaged, losing allowed: Int, besides added: Set<String> = [],
    mayBeVerified: Bool = false, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = (salvaged.contents[name] ?? []).filter { !added.contains($0.key.text) }
    let all = contents[name] ?? []
    for record in found {
      #expect(known(name).contains(record.core), comment, sourceLocation: sourceLocation)
    }
    let missing = all.filter { record in
      !found.contains { $0.key == record.key && $0.service == record.service }
    }
    #expect(missing.count <= allowed, comment, sourceLocation: sourceLocation)
    guard !mayBeVerified else { return }
    // A value that a later, lost write replaced or removed is there again.
    #expect(found.filter { !$0.isMarked }.isEmpty, comment, sourceLocation: sourceLocation)
    let isVerified = salvaged.report.groups.first { $0.name.text == name }?.isVerified
    #expect(isVerified != true, comment, sourceLocation: sourceLocation)
  }

  /// Expects a group whose section's length was lost: it may be found from the next header.
  func expectWholeOrPart(
    of name: String, in salvaged: Salvaged, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if salvaged.report.groups.contains(where: { $0.name.text == name && $0.isVerified }) {
      expectWhole([name], in: salvaged, comment, sourceLocation: sourceLocation)
    } else {
      expectPart(of: name, in: salvaged, losing: 99, comment, sourceLocation: sourceLocation)
    }
  }

  func known(_ name: String) -> Set<RecordImage.Core> { ids[name].flatMap { known[$0] } ?? [] }

  /// Expects each value to be one that the record of that name had at some time, in its own group.
  func expectNothingWrong(in salvaged: Salvaged, _ comment: Comment) throws {
    for group in try salvaged.vault.groups() {
      let known = try #require(self.known[group.id], comment)
      for record in try salvaged.vault.records(in: group) {
        let image = try RecordImage(record, group, salvaged.vault)
        #expect(known.contains(image.core), comment)
        for previous in image.previous {
          #expect(known.contains { $0.key == image.key && $0.value == previous.value }, comment)
        }
      }
    }
  }
}

extension RecordImage {
  /// What a value's own seal vouches for.
  struct Core: Hashable {
    let service, key: Vault.Name
    let kind, `class`: UInt8
    fileprivate let bytes: [UInt8]?

    var isRefused: Bool { bytes == nil }
    var value: Value { bytes.map { .bytes($0) } ?? .refused(.tampered) }
  }

  var core: Core {
    var bytes: [UInt8]?
    if case .bytes(let value) = value { bytes = value }
    return Core(service: service, key: key, kind: kind, class: `class`, bytes: bytes)
  }

  var extensionItemsWithoutMark: [Item] { extensionItems.filter { !$0.isMark } }
  var unmarked: RecordImage {
    var image = self
    image.extensionItems = extensionItemsWithoutMark
    return image
  }
  var isMarked: Bool { extensionItems.contains { $0.isMark } }
}

extension RecordImage.Item {
  var isMark: Bool { tag == 4 && data.dropFirst(2).starts(with: Array(SalvageReport.attribute.utf8)) }
}

extension RecordInfo {
  var isMarked: Bool { attributes.contains { $0.name.text == SalvageReport.attribute } }
}

extension Vault.Transaction {
  mutating func set(
    _ bytes: [UInt8], forKey key: String, _ accessibility: Vault.Accessibility, _ edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try set(bytes.span.bytes, kind: .string, forKey: key, accessibility: accessibility, edit: edit)
  }
}
