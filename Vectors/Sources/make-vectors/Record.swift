/// A record as it is to be written (3.6), and what a reader is to find in it.
struct Record {
  var service: Bytes
  var key: Bytes
  var kind: UInt8 = 1
  var `class`: UInt8 = 0
  var zero: UInt16 = 0
  var created = Draft.time
  var modified = Draft.time
  /// The generation of the write that this is a part of, if not given.
  var revision: UInt64?
  var value: Bytes
  var twist = Twist()
  /// Concerns the inner seal of classes 2 and 3.
  var deviceTwist = Twist()
  /// Sealed bytes to take as they are.
  var sealed: Bytes?
  var previous: [Previous] = []
  /// Extension items but for tag 5.
  var items: [(tag: UInt16, data: Bytes)] = []
  /// The whole extension field in place of the right one.
  var extensionField: Bytes?
  /// How getting the value is refused.
  var refusal: Refusal?
  /// How getting the previous values is refused.
  var previousRefusal: Refusal?

  /// The data of tag 7: the record is removed and kept.
  var removal: Bytes? { items.first { $0.tag == 7 }?.data }

  init(_ service: String, _ key: String, _ value: String = "value") {
    (self.service, self.key, self.value) = (Bytes(service), Bytes(key), Bytes(value))
  }

  /// A kept earlier value: extension tag 5 (3.8).
  struct Previous {
    var revision: UInt64
    var modified = Draft.time
    var kind: UInt8 = 1
    var value: Bytes
    var twist = Twist()
    var deviceTwist = Twist()
    var sealed: Bytes?
    /// What stands behind the sealed value, which is nothing.
    var rest: Bytes = []

    init(_ revision: UInt64, _ value: String) { (self.revision, self.value) = (revision, Bytes(value)) }
  }

  /// One item of an extension field.
  static func item(_ tag: UInt16, _ data: Bytes) -> Bytes { .integer(tag) + .lp32(data) }
}

extension Group {
  /// CK = D(32, GK, "class-key", class).
  func classKey(_ class: UInt8, vaultKey: Bytes) -> Bytes {
    Sealing.derive(32, key(vaultKey: vaultKey), "class-key", [`class`])
  }

  /// A record sealed for this group.
  func bytes(_ record: Record, revision: UInt64, _ draft: Draft, _ random: inout RandomStream) -> Bytes {
    let classKey = classKey(record.class, vaultKey: draft.vaultKey)
    func deviceLayer(_ value: Bytes, kind: UInt8, _ twist: Twist) -> Bytes {
      guard record.class == 2 || record.class == 3 else { return value }
      return twist.seal(
        value, key: Credential.deviceKey,
        context: [Bytes("device"), draft.vaultID, id, record.service, record.key, [kind]], random: random.draw(24))
    }
    func sealed(_ value: Bytes) -> Bytes {
      let isBare = record.removal != nil
      let inner = isBare ? value : deviceLayer(value, kind: record.kind, record.deviceTwist)
      return record.twist.seal(
        inner, key: classKey, context: [Bytes("value"), record.service, record.key, [record.kind]],
        random: random.draw(24))
    }
    func sealed(_ previous: Record.Previous) -> Bytes {
      let inner = deviceLayer(previous.value, kind: previous.kind, previous.deviceTwist)
      return previous.twist.seal(
        inner, key: classKey,
        context: [
          Bytes("previous"), record.service, record.key, [previous.kind], .integer(previous.revision),
        ], random: random.draw(24))
    }
    var out = Bytes.lp16(record.service) + .lp16(record.key) + [record.kind, record.class] + .integer(record.zero)
    out += .integer(record.created) + .integer(record.modified) + .integer(record.revision ?? revision)
    out += .lp32(record.sealed ?? sealed(record.value))
    var items = record.items
    for previous in record.previous {
      let head = Bytes.integer(previous.revision) + .integer(previous.modified) + [previous.kind]
      items.append((5, head + .lp32(previous.sealed ?? sealed(previous)) + previous.rest))
    }
    // Stable: equal tags stay as they were listed.
    let ordered = items.enumerated().sorted { ($0.element.tag, $0.offset) < ($1.element.tag, $1.offset) }
    return out + .lp32(record.extensionField ?? ordered.flatMap { Record.item($0.element.tag, $0.element.data) })
  }
}
