/// Header, lengths and checksum (3.1, 3.4; section 4, steps 2 and 3).
enum HeaderVectors {
  static var all: [Vector] {
    beginnings + lengths + counts + checksums + [
      Vector("header-vault-id", "one bit of the vault id flipped: no slot opens", .sealed(.credentialRejected)) {
        $0.finished = { file in
          file.flip(at: 16)
          file.mendChecksum()
        }
      },
      Vector("header-generation-edited", "vault_generation raised by nobody with a key", .sealed(.tampered)) {
        $0.finished = { file in
          file.store(UInt64(3), at: 32)
          file.mendChecksum()
        }
      },
      Vector("header-generation-zero", "vault_generation 0", .refused(.limitExceeded)) { $0.generation = 0 },
      Vector("header-generation-2-63", "vault_generation 2^63", .refused(.limitExceeded)) { $0.generation = 1 << 63 },
    ]
  }

  private static var beginnings: [Vector] {
    [
      Vector("header-empty", "an empty file", .refused(.notAVault)) { $0.finished = { $0 = [] } },
      Vector("header-7-bytes", "seven bytes of the magic", .refused(.notAVault)) {
        $0.finished = { $0.removeLast($0.count - 7) }
      },
      Vector("header-magic-only", "the magic alone", .refused(.damaged)) {
        $0.finished = { $0.removeLast($0.count - 8) }
      },
      Vector("header-87-bytes", "cut after 87 bytes", .refused(.damaged)) {
        $0.finished = { $0.removeLast($0.count - 87) }
      },
      Vector("header-line-feeds", "CR LF became LF", .refused(.notAVault)) { $0.finished = { $0.remove(at: 4) } },
      Vector("header-version-2", "version 2", .refused(.unsupportedVersion)) { $0.version = 2 },
      Vector("header-version-257", "version 257: the upper byte counts", .refused(.unsupportedVersion)) {
        $0.version = 257
      },
      Vector("header-flag-first", "feature flag 2, the first that is not known", .refused(.unsupportedFeature)) {
        $0.flags = 2
      },
      Vector("header-flag-last", "feature flag 2^15", .refused(.unsupportedFeature)) { $0.flags = 1 << 15 },
    ]
  }

  private static var lengths: [Vector] {
    [
      snapshotCount("zero", "snapshot_len 0", .damaged) { _ in 0 },
      snapshotCount("beyond", "snapshot_len one more than the file has", .damaged) { UInt64($0 + 1) },
      snapshotCount("2-63", "snapshot_len 2^63", .damaged) { _ in 1 << 63 },
      Vector("header-length-87", "snapshot_len 87, with a checksum that is right for it", .refused(.damaged)) {
        $0.finished = checksummed87
      },
      Vector("header-length-88", "snapshot_len 88: a header alone, with a right checksum", .refused(.malformed)) {
        $0.finished = { file in
          file.store(UInt64(88), at: Draft.Offset.snapshotCount)
          file.mendChecksum()
        }
      },
      Vector("header-length-mended", "snapshot_len 8 less, with a checksum that is right for it", .refused(.malformed))
      {
        $0.finished = { file in
          file.store(UInt64(file.count - 8), at: Draft.Offset.snapshotCount)
          file.mendChecksum()
        }
      },
      Vector("header-bytes-behind-manifest", "8 zero bytes between manifest and section", .refused(.malformed)) {
        $0.finished = { $0.replaceInSnapshot(56 + 168 + 1096..<56 + 168 + 1096, with: .zeros(8)) }
      },
      Vector("manifest-length-short", "a manifest of 1088 bytes, padded to less than a step", .refused(.malformed)) {
        $0.manifest.twist.padded = Pad.to(1016)
      },
      Vector("manifest-length-odd", "a manifest of 1097 bytes", .refused(.malformed)) {
        $0.manifest.twist.padded = Pad.to(1025)
      },
      Vector("manifest-length-last", "manifest_len 2^64 - 8", .refused(.malformed)) { $0.manifestCount = .max - 7 },
    ]
  }

  private static func snapshotCount(
    _ name: String, _ about: String, _ refusal: Refusal, _ count: @escaping (Int) -> UInt64
  ) -> Vector {
    Vector("header-length-" + name, about, .refused(refusal)) {
      $0.finished = { $0.store(count($0.count), at: Draft.Offset.snapshotCount) }
    }
  }

  /// The checksum's first byte is the upper byte of snapshot_len, which must be zero: vault ids are tried.
  private static func checksummed87(_ file: inout Bytes) {
    file.removeLast(file.count - 88)
    file.store(UInt64(87), at: Draft.Offset.snapshotCount)
    file.store(UInt32(0), at: 12)
    var id: UInt64 = 0
    repeat {
      file.store(id, at: 16)
      id += 1
    } while Sealing.hash(32, Bytes(file[..<55]))[0] != 0
    file.mendChecksum()
  }

  private static var counts: [Vector] {
    [
      Vector("header-slots-65", "n_slots 65", .refused(.limitExceeded)) { $0.slotCount = 65 },
      Vector("header-slots-fewer", "n_slots 0 before a slot", .refused(.malformed)) { $0.slotCount = 0 },
      Vector("header-slots-more", "n_slots 2 before one slot", .refused(.malformed)) { $0.slotCount = 2 },
      Vector("header-groups-1025", "n_groups 1025", .refused(.limitExceeded)) { $0.groupCount = 1025 },
      Vector("header-groups-fewer", "n_groups 0 before a section", .refused(.malformed)) { $0.groupCount = 0 },
    ]
  }

  private static var checksums: [Vector] {
    [
      ("header", 20), ("section", 56 + 168 + 1096 + 32 + 700),
    ].map { part, offset in
      Vector("checksum-" + part, "one bit of the \(part) flipped on the way", .refused(.damaged)) {
        $0.finished = { $0.flip(at: offset) }
      }
    }
  }
}
