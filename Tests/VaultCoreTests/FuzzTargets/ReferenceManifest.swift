@testable import VaultCore

/// The body of a manifest by section 3.5 of `Docs/Format.md`, compared with a snapshot as section 4, step 7 says.
struct ReferenceManifest {
  init(_ body: [UInt8], of snapshot: Snapshot) throws(VaultError) {
    var reader = ReferenceReader(body)
    var (groups, names, slots): ([[UInt8]], [[UInt8]], [[UInt8]]) = ([], [], [])
    for _ in 0..<(try reader.count(2, upTo: 1024, least: 63)) {
      groups.append(try reader.take(16))
      _ = try reader.number(4)
      _ = try reader.generation()
      _ = try reader.take(32)
      names.append(try reader.name())
    }
    let owners = snapshot.slots.filter { $0.bytes[1] == 0 }.map { Array($0.bytes[8..<24]) }
    for _ in 0..<(try reader.count(2, upTo: 64, least: 58)) {
      let id = try reader.take(16)
      slots.append(id)
      if try reader.take(32) != [UInt8](repeating: 0, count: 32), owners.contains(id) { throw .malformed("a KEK") }
      _ = try reader.number(8)
      let label = try reader.counted(2)
      guard label.count <= 1024, String(validating: label, as: UTF8.self) != nil else { throw .malformed("a label") }
    }
    try ReferenceReader.items(try reader.counted(4))
    try reader.finish()
    guard groups == snapshot.sections.map(\.id.bytes), slots == snapshot.slots.map({ Array($0.bytes[8..<24]) }),
      Set(names).count == names.count
    else { throw .tampered("what the manifest lists") }
  }
}
