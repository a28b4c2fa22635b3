@testable import VaultCore
@testable import VaultSealing

/// The body of an event of a log: its number, and then its bytes (`Docs/Format.md` F.2).
struct LogEventTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    guard input.count > 2 else { return }
    let bytes = Array(input)
    let number = 1 + ReferenceReader.number(bytes[..<2])
    let body = Array(bytes[2...])
    // All refusals make the event malformed, so the class of the error means nothing.
    let found = Result { () throws(VaultError) in try AuditBody(body.span.bytes, number: number) }
    let expected = Result { () throws(VaultError) in try ReferenceEvent(body, number: number) }
    switch (found, expected) {
    case (.success(let found), .success(let expected)):
      try demand(found.previous == Vault.Tag(expected.previous.bytes), "the previous tag")
      try demand(found.flags.rawValue == expected.flags, "the flags")
      try demand(found.event.action.rawValue == expected.action, "the action")
      try demand(found.event.service?.utf8 ?? [] == expected.service, "the service")
      try demand(found.event.key?.utf8 ?? [] == expected.key, "the key")
      try demand(found.event.lost == expected.lost, "the lost events")
      try demand(found.acknowledged.count == expected.acknowledged, "the acknowledged findings")
    case (.failure, .failure): break
    case (.success, .failure): throw Violation(description: "an event is accepted that is malformed")
    case (.failure, .success): throw Violation(description: "an event is malformed that is right")
    }
  }
}

/// An event of a log, read as the format is written.
private struct ReferenceEvent {
  let previous: [UInt8]
  let action: UInt8
  let flags: UInt8
  let lost: UInt64
  let service: [UInt8]
  let key: [UInt8]
  private(set) var acknowledged = 0

  init(_ body: [UInt8], number: UInt64) throws(VaultError) {
    var reader = ReferenceReader(body)
    previous = try reader.take(32)
    _ = try reader.number(8)
    action = UInt8(try reader.number(1))
    flags = UInt8(try reader.number(1))
    guard try reader.number(2) == 0, action != 0 else { throw Self.malformed }
    _ = try reader.take(4 + 4 + 16)
    lost = try reader.number(8)
    let program = try reader.counted(2)
    guard program.count <= 64, String(validating: program, as: UTF8.self) != nil else { throw Self.malformed }
    service = try reader.counted(2)
    key = try reader.counted(2)
    let names = [service, key].map(\.isEmpty)
    if action <= 6, names != [false, false] { throw Self.malformed }
    if (7...14).contains(action), names != [true, true] { throw Self.malformed }
    guard [service, key].allSatisfy({ $0.isEmpty || ReferenceReader.isName($0) }) else { throw Self.malformed }
    try takeItems(try reader.counted(4), number)
    try reader.finish()
  }

  private static let malformed = VaultError.malformed("an event")

  private mutating func takeItems(_ field: [UInt8], _ number: UInt64) throws(VaultError) {
    var counts: [UInt16: Int] = [:]
    try ReferenceReader.items(field) { (tag, data) throws(VaultError) in
      let isRight =
        switch tag {
        case 1: data.count == 16
        case 2: data.count.isMultiple(of: 17) && (1...60).contains(data.count / 17)
        case 3, 5: data.count == 1
        case 6: data.count == 4
        case 7: data.count == 8
        default: true
        }
      guard isRight else { throw Self.malformed }
      guard [1, 2, 3, 5, 6, 7].contains(tag) else { return }
      guard counts.updateValue(data.count, forKey: tag) == nil else { throw Self.malformed }
      if tag == 1 {
        let (first, last) = (ReferenceReader.number(data[..<8]), ReferenceReader.number(data[8...]))
        guard 1 <= first, first <= last, last < number else { throw Self.malformed }
      }
    }
    let needed: [UInt8: UInt16] = [7: 5, 9: 6, 10: 3, 12: 1, 13: 2]
    if let tag = needed[action], counts[tag] == nil { throw Self.malformed }
    acknowledged = (counts[2] ?? 0) / 17
  }
}
