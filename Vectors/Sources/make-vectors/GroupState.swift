/// A group as a reader finds it, after its section and its entries.
struct GroupState {
  let name: Bytes
  let epoch: UInt32
  var generation: UInt64
  /// That of the last entry, or of the section.
  var tag: Bytes
  private(set) var records: [(record: Record, revision: UInt64)] = []

  init(name: Bytes, epoch: UInt32, generation: UInt64, tag: Bytes) {
    (self.name, self.epoch, self.generation, self.tag) = (name, epoch, generation, tag)
  }

  mutating func put(_ record: Record, revision: UInt64) {
    remove(service: record.service, key: record.key)
    records.append((record, revision))
    records.sort { Self.before($0.record, $1.record) }
  }

  mutating func remove(service: Bytes, key: Bytes) {
    records.removeAll { ($0.record.service, $0.record.key) == (service, key) }
  }

  private static func before(_ a: Record, _ b: Record) -> Bool {
    a.service == b.service
      ? a.key.lexicographicallyPrecedes(b.key) : a.service.lexicographicallyPrecedes(b.service)
  }

  /// The member of `groups` in the manifest of the vectors.
  ///
  /// - Parameter refusal: how values of classes 2 and 3 are refused, whatever the records tell of themselves.
  func json(deviceRefusal refusal: Refusal? = nil) -> (String, JSON) {
    (
      String(decoding: name, as: UTF8.self),
      .object([
        ("epoch", .number(epoch)), ("generation", .number(generation)), ("tag", .text(tag.hexadecimal)),
        ("records", .list(records.map { Self.json($0.record, $0.revision, refusal) })),
      ])
    )
  }

  private static func json(_ record: Record, _ revision: UInt64, _ deviceRefusal: Refusal?) -> JSON {
    var members: [(String, JSON)] = [
      ("service", .text(String(decoding: record.service, as: UTF8.self))),
      ("key", .text(String(decoding: record.key, as: UTF8.self))),
      ("kind", .number(record.kind)), ("class", .number(record.class)), ("revision", .number(revision)),
      ("created", .number(record.created)), ("modified", .number(record.modified)),
    ]
    let bound = record.class >= 2 ? deviceRefusal : nil
    if let refusal = bound ?? record.refusal {
      members.append(("error", .text(refusal.rawValue)))
    } else {
      members.append(rendered(record.kind, record.value))
    }
    if !record.previous.isEmpty {
      if let refusal = bound ?? record.previousRefusal {
        members.append(("previous_error", .text(refusal.rawValue)))
      } else {
        members.append(("previous", .list(record.previous.map(json))))
      }
    }
    if !record.items.isEmpty {
      let items = record.items.map { JSON.list([.number($0.tag), .text($0.data.hexadecimal)]) }
      members.append(("extension", .list(items)))
    }
    return .object(members)
  }

  private static func json(_ previous: Record.Previous) -> JSON {
    .object([
      ("revision", .number(previous.revision)), ("modified", .number(previous.modified)),
      ("kind", .number(previous.kind)), rendered(previous.kind, previous.value),
    ])
  }

  /// Text for strings, URLs and JSON, hex digits for everything else.
  private static func rendered(_ kind: UInt8, _ value: Bytes) -> (String, JSON) {
    [1, 8, 9].contains(kind)
      ? ("text", .text(String(decoding: value, as: UTF8.self))) : ("hex", .text(value.hexadecimal))
  }
}
