/// The manifest (3.5): its seal, its body, and what it lists. A holder never sees it.
enum ManifestVectors {
  static var all: [Vector] {
    seals + paddings + bodies + lists + [
      Vector("manifest-labels", "labels of 1024 bytes, of none, with control characters; any time", .opens) {
        $0.slots[0].label = Bytes(String(repeating: "\u{1F5DD}", count: 256))
        for (label, created) in [("", Int64.min), ("\u{0}\n\u{85}", .max)] {
          let index = $0.addSlot(nil)
          ($0.slots[index].label, $0.slots[index].created) = (Bytes(label), created)
        }
      },
      Vector("manifest-extension", "an extension field of unknown items, two of one tag", .opens) {
        $0.manifest.extensionField =
          Record.item(1, [0xFF]) + Record.item(7, []) + Record.item(7, [0]) + Record.item(.max, [1, 2])
      },
    ]
  }

  private static func owner(
    _ name: String, _ about: String, _ refusal: Refusal, from base: @escaping (String) -> Draft = Draft.pair,
    _ change: @escaping (inout Draft) -> Void
  ) -> Vector {
    Vector("manifest-" + name, "the manifest: " + about, .owner(refusal), from: base, change)
  }

  private static var seals: [Vector] {
    [
      owner("seal-tag", "a bit of the tag flipped", .tampered) { $0.manifest.twist.sealed = { $0.flip(at: 40) } },
      owner("seal-poly1305", "a box whose Poly1305 is wrong under a right tag", .tampered) {
        $0.manifest.twist.box = { $0.flip(at: 0) }
      },
      owner("seal-header", "sealed with another header", .tampered) {
        $0.manifest.twist.context = { $0[1].flip(at: 32) }
      },
      owner("seal-slots", "sealed with other slots", .tampered) { $0.manifest.twist.context = { $0[2].flip(at: 167) } },
    ]
  }

  private static var paddings: [Vector] {
    [
      owner("padding-no-mark", "zeros without the mark before them", .malformed) {
        $0.manifest.twist.padded = Pad.withoutMark(step: 1024)
      },
      owner("padding-longer", "padding of one step more than needed", .malformed) {
        $0.manifest.twist.padded = Pad.longer(step: 1024)
      },
    ]
  }

  private static var bodies: [Vector] {
    [
      owner("body-cut", "a body that ends in the extension field's length", .malformed) {
        $0.manifest.body = { $0.removeLast() }
      },
      owner("body-longer", "a byte behind the end", .malformed) { $0.manifest.rest = [0] },
      owner("groups-1025", "n_groups 1025", .limitExceeded) { $0.manifest.groupCount = 1025 },
      owner("slots-65", "n_slots 65", .limitExceeded) { $0.manifest.slotCount = 65 },
      owner("floor-zero", "a floor of generation 0", .limitExceeded) { $0.groups[0].floorGeneration = 0 },
      owner("name-control", "a group's name with a control character", .invalidName) {
        $0.groups[0].listedName = Bytes("c\ti")
      },
      owner("owner-kek", "a KEK kept for an owner slot", .malformed) { $0.slots[0].listedKEK = .run(from: 1) },
      owner("label-long", "a label of 1025 bytes", .malformed) {
        $0.slots[0].label = Bytes(String(repeating: "l", count: 1025))
      },
      owner("label-not-utf-8", "a label that is not UTF-8", .malformed) { $0.slots[0].label = [0x6C, 0xFF] },
      owner("extension-order", "an extension field of falling tags", .malformed) {
        $0.manifest.extensionField = Record.item(8, []) + Record.item(7, [])
      },
      owner("extension-cut-data", "an extension item longer than its field", .malformed) {
        $0.manifest.extensionField = [9, 0] + .integer(UInt32(2)) + [0]
      },
    ]
  }

  private static var lists: [Vector] {
    [
      owner("lists-groups-exchanged", "two groups listed in the other order", .tampered, from: Draft.bare) {
        $0.manifest.lines = { groups, _ in groups.swapAt(0, 1) }
      },
      owner("lists-group-missing", "one group fewer than the file has", .tampered, from: Draft.bare) {
        $0.manifest.lines = { groups, _ in groups.removeLast() }
      },
      owner("lists-group-more", "one group more than the file has", .tampered, from: Draft.bare) {
        var other = $0.groups[1]
        (other.id[0], other.name) = (0xFF, Bytes("other"))
        let line = other.listed(floorTag: .zeros(32))
        $0.manifest.lines = { groups, _ in groups.append(line) }
      },
      owner("lists-group-id", "another group id than the section's", .tampered, from: Draft.bare) {
        $0.groups[1].listedID = .run(from: 0xF0, count: 16)
      },
      Vector("manifest-lists-names", "the manifest: two groups of one name", .owner(.tampered), from: Draft.bare) {
        $0.groups[1].name = $0.groups[0].name
      },
      owner("lists-slots-exchanged", "two slots listed in the other order", .tampered) {
        $0.manifest.lines = { _, slots in slots.swapAt(0, 1) }
      },
      owner("lists-slot-missing", "one slot fewer than the file has", .tampered) {
        $0.manifest.lines = { _, slots in slots.removeLast() }
      },
      owner("lists-slot-id", "another slot id than the slot's", .tampered) {
        $0.slots[1].listedID = .run(from: 0xD0, count: 16)
      },
    ]
  }
}
