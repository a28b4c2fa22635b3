@testable import VaultCore

/// A file without any key by sections 3.1 to 3.4 of `Docs/Format.md` and section 4, steps 2 to 5.
struct ReferenceFile {
  struct Section {
    let id: [UInt8]
    let epoch: UInt64
    let sealed: [UInt8]
  }

  let vaultID: [UInt8]
  let generation: UInt64
  let manifest: [UInt8]
  private(set) var slots: [[UInt8]] = []
  private(set) var sections: [Section] = []
  let frame: ReferenceFrame

  init(_ file: [UInt8]) throws(VaultError) {
    guard file.starts(with: [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]) else { throw VaultError(.notAVault, "") }
    guard file.count >= 88 else { throw VaultError(.damaged, "too short") }
    guard ReferenceReader.number(file[8..<10]) == 1 else { throw VaultError(.unsupportedVersion, "") }
    guard ReferenceReader.number(file[10..<12]) <= 1 else { throw VaultError(.unsupportedFeature, "") }
    let length = ReferenceReader.number(file[48..<56])
    guard length >= 88, length <= UInt64(file.count) else { throw VaultError(.damaged, "snapshot_len") }
    let end = Int(length) - 32
    guard ReferenceFrame.hash(file[..<end]) == Array(file[end..<end + 32]) else {
      throw VaultError(.damaged, "the checksum")
    }

    let slotCount = Int(ReferenceReader.number(file[12..<14]))
    let groupCount = Int(ReferenceReader.number(file[14..<16]))
    guard slotCount <= 64, groupCount <= 1024 else { throw VaultError(.limitExceeded, "slots or groups") }
    var reader = ReferenceReader(Array(file[16..<end]))
    vaultID = try reader.take(16)
    generation = try reader.generation()
    let manifestCount = try reader.number(8)
    _ = try reader.number(8)
    for _ in 0..<slotCount { slots.append(try reader.take(168)) }
    manifest = try Self.sealed(manifestCount, &reader)
    var last = [UInt8](repeating: 0, count: 16)
    for _ in 0..<groupCount {
      let id = try reader.take(16)
      let (epoch, zero, count) = (try reader.number(4), try reader.number(4), try reader.number(8))
      guard last.lexicographicallyPrecedes(id), epoch >= 1, epoch < 1 << 31, zero == 0 else {
        throw .malformed("a section's head")
      }
      sections.append(Section(id: id, epoch: epoch, sealed: try Self.sealed(count, &reader)))
      last = id
    }
    try reader.finish()
    frame = try ReferenceFrame(file, from: Int(length), groups: sections.map(\.id))
    if frame.isDamaged { throw VaultError(.damaged, "the journal") }
    try Self.check(slots)
  }

  private static func sealed(_ count: UInt64, _ reader: inout ReferenceReader) throws(VaultError) -> [UInt8] {
    guard count <= UInt64(reader.rest.count), count % 8 == 0, count >= 1096 else { throw .malformed("a sealed length") }
    return try reader.take(Int(count))
  }

  /// The rules of 3.2 and the bounds of 3.10.
  private static func check(_ slots: [[UInt8]]) throws(VaultError) {
    var (ids, costs): ([[UInt8]], [UInt64]) = ([], [])
    for slot in slots {
      guard slot[2] == 0, slot[3] == 0, !ids.contains(Array(slot[8..<24])) else { throw .malformed("a slot") }
      ids.append(Array(slot[8..<24]))
      guard slot[0] == 1 || slot[0] == 2 else { continue }
      let (epoch, hasGroup) = (ReferenceReader.number(slot[4..<8]), slot[24..<40].contains { $0 != 0 })
      switch slot[1] {
      case 0: guard epoch == 0, !hasGroup else { throw .malformed("an owner slot") }
      case 1: guard epoch >= 1, epoch < 1 << 31, hasGroup else { throw .malformed("a group slot") }
      default: throw .malformed("a scope")
      }
      if slot[0] == 2 {
        guard slot[40..<64].allSatisfy({ $0 == 0 }) else { throw .malformed("a raw key slot") }
        continue
      }
      let (passes, kibibytes) = (ReferenceReader.number(slot[40..<44]), ReferenceReader.number(slot[44..<48]))
      guard passes >= 1, kibibytes >= 8 << 10, kibibytes <= 1 << 20, passes * kibibytes <= 4 << 20 else {
        throw VaultError(.kdfRefused, "a slot")
      }
      costs.append(passes * kibibytes)
    }
    guard costs.reduce(0, +) <= 8 << 20 else { throw VaultError(.kdfRefused, "all slots") }
    guard costs.count <= 8 else { throw VaultError(.limitExceeded, "passphrase slots") }
  }
}
