@testable import VaultCore

/// The body of a manifest, for a file with the groups 1… and 2…, an owner slot 3… and a group slot 4…
struct ManifestTarget: FuzzTarget {
  private let snapshot: Snapshot

  init() throws {
    var writer = ByteWriter()
    func id(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: Vault.Identifier.count) }
    writer.raw(Snapshot.magic)
    for count in [1, 0, 2, 2] { writer.integer(UInt16(count)) }
    writer.raw(id(9))
    writer.integer(UInt64(1))
    writer.integer(UInt64(Snapshot.sealedMinimum))
    writer.integer(UInt64(0))
    for (scope, slot) in [(0, 3), (1, 4)] as [(UInt32, UInt8)] {
      writer.integer(UInt32(2) | scope << 8)
      writer.integer(scope)
      writer.raw(id(slot))
      writer.raw(id(UInt8(scope)))
      writer.zeros(StoredSlot.count - 40)
    }
    writer.zeros(Snapshot.sealedMinimum)
    for group in [1, 2] as [UInt8] {
      writer.raw(id(group))
      writer.integer(UInt64(1))
      writer.integer(UInt64(Snapshot.sealedMinimum))
      writer.zeros(Snapshot.sealedMinimum)
    }
    writer.zeros(Snapshot.checksumCount)
    snapshot = try Snapshot(FileImage(HeaderTarget.corrected(writer.bytes)))
  }

  func check(_ input: UnsafeRawBufferPointer) throws {
    // The reader requires a body of at least one byte; padding cannot give it less.
    guard input.count > 0 else { return }
    let body = Array(input)
    let parsed = try agreement(
      "a manifest", { () throws(VaultError) in try Manifest(body.span.bytes, of: snapshot) },
      { () throws(VaultError) in try ReferenceManifest(body, of: snapshot) })
    if let (manifest, _) = parsed {
      let padded = try manifest.padded().withSpan { $0.copy }
      try demand(padded.starts(with: body + [0x80]), "a manifest is not written as it was read")
    }
  }
}
