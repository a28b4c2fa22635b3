/// Sections: heads (3.3), seals, and what swapping or ageing them does (section 13, 16 to 20a).
enum SectionVectors {
  static var all: [Vector] {
    heads + seals + exchanged
  }

  private static var heads: [Vector] {
    [
      head("epoch-zero", "epoch 0") { $0.groups[0].headEpoch = 0 },
      head("epoch-2-31", "epoch 2^31") { $0.groups[0].headEpoch = 1 << 31 },
      head("zero", "the reserved word is not zero") { $0.groups[0].headZero = 1 },
      head("id-zero", "the group id 0") { $0.groups[0].id = .zeros(16) },
      head("id-twice", "two sections of one group id") { $0.groups[1].id = $0.groups[0].id },
      head("order", "sections ordered otherwise than by id") { $0.groups.swapAt(0, 1) },
      head("length-short", "a section of 1088 bytes, padded to less than a step") {
        $0.groups[0].section.twist.padded = Pad.to(1016)
      },
      head("length-odd", "a section of 1097 bytes") { $0.groups[0].section.twist.padded = Pad.to(1025) },
      head("length-beyond", "sealed_len 8 too long") { $0.groups[1].headCount = 1096 + 8 },
    ]
  }

  private static func head(_ name: String, _ about: String, _ change: @escaping (inout Draft) -> Void) -> Vector {
    Vector("section-" + name, "a section's head: " + about, .refused(.malformed), from: Draft.bare, change)
  }

  private static var seals: [Vector] {
    [
      seal("tag", "a bit of the tag flipped") { $0.sealed = { $0.flip(at: 55) } },
      seal("poly1305", "a box whose Poly1305 is wrong under a right tag") { $0.box = { $0.flip(at: 4) } },
      seal("vault", "sealed for another vault") { $0.context = { $0[1].flip(at: 0) } },
      seal("group", "sealed for another group") { $0.context = { $0[2].flip(at: 0) } },
      seal("epoch", "sealed for another epoch") { $0.context = { $0[3] = .integer(UInt32(2)) } },
    ]
  }

  private static func seal(_ name: String, _ about: String, _ change: @escaping (inout Twist) -> Void) -> Vector {
    Vector("section-seal-" + name, "a section: " + about, .sealed(.tampered)) { change(&$0.groups[0].section.twist) }
  }

  private static var exchanged: [Vector] {
    [
      Vector("section-exchanged", "the sealed parts of two sections exchanged", .sealed(.tampered), from: Draft.bare) {
        let sections = $0.forged().sections
        $0.groups[0].place(sections[1])
        $0.groups[1].place(sections[0])
      },
      Vector(
        "section-other-vault", "a section of another vault of the same credential", .sealed(.tampered), from: Draft.bare
      ) {
        $0.groups[1].place(Draft.bare(seed: "another").forged().sections[1])
      },
      Vector(
        "section-older", "a section of the owner write before, seen by its holder alone", .owner(.tampered),
        from: Draft.rewritten
      ) {
        $0.groups[1].put(Draft.bare(seed: "SPV1 section-older"), 1)
      },
      Vector(
        "section-other-copy", "a section of a copy of the vault that was written on by itself", .owner(.tampered),
        from: Draft.rewritten
      ) {
        var other = Draft.rewritten(seed: "SPV1 section-other-copy")
        other.groups[1].section.records[0].value = Bytes("written elsewhere")
        $0.groups[1].put(other, 1)
      },
      Vector(
        "header-older", "the header of the owner write before", .each(["owner": .tampered, "holder": .tampered]),
        from: Draft.rewritten
      ) {
        $0.finished = { file in
          file.store(UInt64(1), at: 32)
          file.mendChecksum()
        }
      },
    ]
  }

  private static func place(manifest: Bytes, in draft: inout Draft) {
    let start = Draft.Offset.slots + draft.slots.count * Draft.Offset.slotCount
    draft.finished = { file in
      file.store(manifest, at: start)
      file.mendChecksum()
    }
  }
}

extension Group {
  /// Puts bytes in the section's place, behind the manifest's back.
  mutating func place(_ sealed: Bytes) {
    var section = section
    section.twist.sealed = { $0 = sealed }
    fold = section
  }

  /// Puts another draft's section in place, and expects it to be read where the reader cannot know.
  mutating func put(_ draft: Draft, _ index: Int) {
    let sealed = draft.forged().sections[index]
    var section = draft.groups[index].current
    section.twist.sealed = { $0 = sealed }
    fold = section
  }
}
