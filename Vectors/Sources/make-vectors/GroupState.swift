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
    var members: [(String, JSON)] = [
      ("epoch", .number(epoch)), ("generation", .number(generation)), ("tag", .text(tag.hexadecimal)),
      (
        "records",
        .list(records.filter { $0.record.removal == nil }.map { Self.json($0.record, $0.revision, refusal) })
      ),
    ]
    let removed = records.compactMap { record, revision in
      record.removal.map { Self.json(record, removal: $0, revision, refusal) }
    }
    if !removed.isEmpty { members.append(("removed", .list(removed))) }
    return (String(decoding: name, as: UTF8.self), .object(members))
  }

  private static func json(
    _ record: Record, removal: Bytes, _ revision: UInt64, _ deviceRefusal: Refusal?
  ) -> JSON {
    func time(_ bytes: ArraySlice<UInt8>) -> Int64 {
      Int64(bitPattern: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    let names: [(String, JSON)] = [
      ("service", .text(String(decoding: record.service, as: UTF8.self))),
      ("key", .text(String(decoding: record.key, as: UTF8.self))),
      ("class", .number(record.class)), ("revision", .number(revision)), ("created", .number(record.created)),
      ("removed", .number(time(removal[..<8]))), ("kept_until", .number(time(removal[8...]))),
    ]
    return .object(names + previous(of: record, deviceRefusal) + items(of: record) { $0 != 7 })
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
    return .object(members + previous(of: record, deviceRefusal) + items(of: record) { _ in true })
  }

  private static func previous(of record: Record, _ deviceRefusal: Refusal?) -> [(String, JSON)] {
    if record.previous.isEmpty { return [] }
    if let refusal = (record.class >= 2 ? deviceRefusal : nil) ?? record.previousRefusal {
      return [("previous_error", .text(refusal.rawValue))]
    }
    return [("previous", .list(record.previous.map(json)))]
  }

  private static func items(of record: Record, _ isShown: (UInt16) -> Bool) -> [(String, JSON)] {
    let items = record.items.filter { isShown($0.tag) }
    if items.isEmpty { return [] }
    return [("extension", .list(items.map { .list([.number($0.tag), .text($0.data.hexadecimal)]) }))]
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
