/// Values and previous values, which are opened when they are asked for (section 4, step 10): the vault opens, and
/// one value is refused.
enum ValueVectors {
  static var all: [Vector] {
    kinds + seals + device + previous
  }

  // MARK: Kinds

  private static var kinds: [Vector] {
    [
      Vector("value-kinds", "every kind, the least and the greatest", .opens) {
        $0.groups[0].section.records = bodies.enumerated().map { index, body in
          var record = Record("kinds", String(UnicodeScalar(UInt8(0x41 + index))))
          (record.kind, record.value, record.class) = (body.kind, body.value, UInt8(index % 2))
          return record
        }
      },
      unfit("string", 1, [0x73, 0xFF]),
      unfit("bool-empty", 3, []), unfit("bool-2", 3, [2]), unfit("bool-long", 3, [1, 0]),
      unfit("signed-short", 4, .zeros(7)), unfit("unsigned-short", 5, .zeros(7)),
      unfit("double-long", 6, .zeros(16)), unfit("date-short", 7, .zeros(4)), unfit("url", 8, [0xC0, 0x80]),
      unfit("json", 9, Bytes("{}") + [0xFE]),
    ]
  }

  private static var bodies: [(kind: UInt8, value: Bytes)] {
    [
      (1, []), (1, Bytes("s\u{0}\n\u{1F511}")), (2, []), (2, [0, 0xFF, 0xC0]), (3, [0]), (3, [1]),
      (4, .integer(Int64.min)), (4, .integer(Int64.max)), (5, .integer(UInt64.max)),
      (6, .integer(Double.nan.bitPattern)), (6, .integer((-0.0).bitPattern)), (7, .integer(Double.pi.bitPattern)),
      (8, Bytes("not a URL")), (9, Bytes("no JSON")), (10, [0xFF]), (127, []), (128, [0]), (200, Bytes("private")),
      (255, .zeros(9)),
    ]
  }

  private static func unfit(_ name: String, _ kind: UInt8, _ value: Bytes) -> Vector {
    refused("unfit-" + name, "a value of kind \(kind) whose body does not fit it", .malformed) { record, _ in
      (record.kind, record.value) = (kind, value)
    }
  }

  // MARK: Seals

  private static var seals: [Vector] {
    [
      refused("tag", "a bit of its tag flipped", .tampered) { record, _ in record.twist.sealed = { $0.flip(at: 24) } },
      refused("poly1305", "a box whose Poly1305 is wrong under a right tag", .tampered) { record, _ in
        record.twist.box = { $0.flip(at: 15) }
      },
      refused("kind", "sealed as another kind", .tampered) { record, _ in record.twist.context = { $0[3] = [2] } },
      refused("service", "sealed for another service", .tampered) { record, _ in
        record.twist.context = { $0[1] = Bytes("dc") }
      },
      refused("joined", "sealed for service and key cut elsewhere", .tampered) { record, _ in
        record.twist.context = { $0.replaceSubrange(1...2, with: [Bytes("dbp"), Bytes("assword")]) }
      },
      refused("label", "sealed as a previous value", .tampered) { record, _ in
        record.twist.context = { $0 = [Bytes("previous")] + $0[1...] + [.integer(UInt64(1))] }
      },
      refused("class", "sealed for another class", .tampered) { record, draft in
        record.twist.key = draft.groups[0].classKey(1, vaultKey: draft.vaultKey)
      },
      Vector("value-long", "a bit flipped in the seal of a value of 3600 bytes", .opens) {
        $0.groups[0].section.records[0].value = Bytes(repeating: 0x6C, count: 3600)
        $0.groups[0].section.records[0].twist.sealed = { $0.flip(at: 2000) }
        $0.groups[0].section.records[0].refusal = .tampered
      },
      Vector("value-exchanged", "two sealed values exchanged", .opens) {
        var records = [Record("db", "a", "1"), Record("db", "b", "2")]
        for index in records.indices {
          let other = records[1 - index]
          records[index].twist.context = { $0[2] = other.key }
          (records[index].value, records[index].refusal) = (other.value, .tampered)
        }
        $0.groups[0].section.records = records
      },
      Vector("value-in-entry", "a value put by an entry, sealed for another key", .opens, from: Draft.journal) {
        var record = Record("app", "key 2", "value")
        record.twist.context = { $0[2] = Bytes("key 1") }
        record.refusal = .tampered
        $0.append(0, .put(record))
      },
      Vector("value-other-epoch", "a value that a rotation did not seal anew", .opens) {
        let old = $0.groups[0].classKey(0, vaultKey: $0.vaultKey)
        $0.groups[0].epoch = 2
        $0.groups[0].section.records[0].twist.key = old
        $0.groups[0].section.records[0].refusal = .tampered
        $0.groups[0].section.records.append(Record("db", "user", "app"))
      },
    ]
  }

  /// One record of two is refused.
  private static func refused(
    _ name: String, _ about: String, _ refusal: Refusal, _ change: @escaping (inout Record, Draft) -> Void
  ) -> Vector {
    Vector("value-" + name, "a value: " + about, .opens) {
      $0.groups[0].section.records.append(Record("db", "user", "app"))
      let draft = $0
      change(&$0.groups[0].section.records[0], draft)
      $0.groups[0].section.records[0].refusal = refusal
    }
  }

  // MARK: Device layer

  private static var device: [Vector] {
    [
      Vector("device", "values of classes 2 and 3, with the device key, with none and with another", .opens) {
        $0.groups[0].section.records = [bound("a", 2, "two"), bound("b", 3, ""), Record("db", "plain")]
        $0.groups[0].section.records[0].previous = [.init(1, "before")]
        $0.groups[0].section.records[0].revision = 2
        $0.groups[0].section.generation = 2
        $0.attempts += [
          Attempt(
            name: "without", credential: .owner, view: .owner, deviceKey: .none, valueRefusal: .deviceKeyMissing),
          Attempt(
            name: "other", credential: .owner, view: .owner, deviceKey: .other(.run(from: 0x80)),
            valueRefusal: .wrongDevice),
        ]
      },
      layer("key", "sealed with another device key", .wrongDevice) { $0.deviceTwist.key = .run(from: 0x80) },
      layer("vault", "sealed for another vault", .wrongDevice) { $0.deviceTwist.context = { $0[1].flip(at: 0) } },
      layer("group", "sealed for another group", .wrongDevice) { $0.deviceTwist.context = { $0[2].flip(at: 0) } },
      layer("kind", "sealed as another kind", .wrongDevice) { $0.deviceTwist.context = { $0[5] = [2] } },
      layer("poly1305", "a box whose Poly1305 is wrong under a right tag", .wrongDevice) {
        $0.deviceTwist.box = { $0.flip(at: 0) }
      },
      layer("outer", "a bit of the outer seal flipped", .tampered) { $0.twist.sealed = { $0.flip(at: 30) } },
      layer("unfit", "a body that does not fit its kind", .malformed) { ($0.kind, $0.value) = (3, [7]) },
    ]
  }

  private static func bound(_ key: String, _ class: UInt8, _ value: String) -> Record {
    var record = Record("db", key, value)
    record.class = `class`
    return record
  }

  private static func layer(
    _ name: String, _ about: String, _ refusal: Refusal, _ change: @escaping (inout Record) -> Void
  ) -> Vector {
    Vector("device-" + name, "the device layer: " + about, .opens) {
      var record = bound("a", name == "kind" ? 3 : 2, "two")
      change(&record)
      record.refusal = refusal
      $0.groups[0].section.records = [record]
    }
  }

  // MARK: Previous values

  private static var previous: [Vector] {
    [
      kept("revision", "sealed for another revision", .tampered) {
        $0[0].twist.context = { $0[4] = .integer(UInt64(1)) }
      },
      kept("label", "sealed as a value", .tampered) {
        $0[0].twist.context = { $0 = [Bytes("value")] + $0[1...3] }
      },
      kept("kind", "sealed as another kind", .tampered) { $0[0].twist.context = { $0[3] = [8] } },
      kept("key", "sealed for another key", .tampered) { $0[1].twist.context = { $0[2] = Bytes("user") } },
      kept("exchanged", "two of them exchanged", .tampered) {
        ($0[0].value, $0[1].value) = ($0[1].value, $0[0].value)
        $0[0].twist.context = { $0[4] = .integer(UInt64(2)) }
        $0[1].twist.context = { $0[4] = .integer(UInt64(4)) }
      },
      kept("second", "a bit of the second one's seal flipped", .tampered) { $0[1].twist.sealed = { $0.flip(at: 30) } },
      kept("unfit", "a body that does not fit its kind", .malformed) { ($0[0].kind, $0[0].value) = (4, [1]) },
      kept("device", "of class 2, sealed with another device key", .wrongDevice, class: 2) {
        $0[0].deviceTwist.key = .run(from: 0x80)
      },
      kept("device-none", "of class 2, without a device layer", .wrongDevice, class: 2) {
        $0[0].deviceTwist.sealed = { $0 = [] }
      },
      kept("device-short", "of class 2, with a device layer of 71 bytes", .wrongDevice, class: 2) {
        $0[0].deviceTwist.sealed = { $0 = .zeros(71) }
      },
    ]
  }

  private static func kept(
    _ name: String, _ about: String, _ refusal: Refusal, class: UInt8 = 0,
    _ change: @escaping (inout [Record.Previous]) -> Void
  ) -> Vector {
    Vector("previous-" + name, "a previous value: " + about, .opens) {
      $0.groups[0].section.generation = 5
      $0.groups[0].section.records[0].class = `class`
      $0.groups[0].section.records[0].previous = [.init(4, "newer"), .init(2, "older")]
      change(&$0.groups[0].section.records[0].previous)
      $0.groups[0].section.records[0].previousRefusal = refusal
    }
  }
}
