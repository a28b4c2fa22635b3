/// What an event says (annex F.2).
struct LogEvent {
  enum Action {
    static let read: UInt8 = 1
    static let write: UInt8 = 2
    static let edit: UInt8 = 3
    static let restore: UInt8 = 4
    static let copy: UInt8 = 5
    static let remove: UInt8 = 6
    static let start: UInt8 = 7
    static let stop: UInt8 = 8
    static let rotate: UInt8 = 9
    static let proceed: UInt8 = 10
    static let handOver: UInt8 = 11
    static let prune: UInt8 = 12
    static let acknowledge: UInt8 = 13
    static let newKey: UInt8 = 14
  }

  var previous = Bytes.zeros(32)
  var time = Draft.time
  var action: UInt8
  var flags: UInt8 = 1
  var zero: UInt16 = 0
  var uid: UInt32 = 1000
  var pid: Int32 = 4711
  var slot = Bytes.run(from: 0xA0, count: 16)
  var lost: UInt64 = 0
  var program = Bytes("server")
  var service: Bytes = []
  var key: Bytes = []
  var items: [(tag: UInt16, data: Bytes)] = []
  /// In place of the right extension field.
  var extensionField: Bytes?
  /// What stands behind the end of the body, which is nothing.
  var rest: Bytes = []

  init(_ action: UInt8, _ service: String = "", _ key: String = "") {
    (self.action, self.service, self.key) = (action, Bytes(service), Bytes(key))
  }

  var body: Bytes {
    var out = previous + .integer(time) + [action, flags] + .integer(zero) + .integer(uid) + .integer(pid)
    out += slot + .integer(lost) + .lp16(program) + .lp16(service) + .lp16(key)
    return out + .lp32(extensionField ?? items.flatMap { Record.item($0.tag, $0.data) }) + rest
  }

  /// An item's data.
  func item(_ tag: UInt16) -> Bytes? { items.first { $0.tag == tag }?.data }

  /// The two numbers of item 1.
  var range: (first: UInt64, last: UInt64)? { item(1).map { ($0.word(0), $0.word(8)) } }

  /// The findings of item 2.
  var acknowledged: [(code: UInt8, first: UInt64, last: UInt64)] {
    let data = item(2) ?? []
    return stride(from: 0, to: data.count, by: 17).map { (data[$0], data.word($0 + 1), data.word($0 + 9)) }
  }
}

extension LogEvent {
  /// `nil` if the event is malformed.
  init?(padded: Bytes, number: UInt64) {
    var body = padded
    while body.last == 0 { body.removeLast() }
    guard body.popLast() == 0x80, Sealing.pad(body, step: 128).count == padded.count else { return nil }
    do {
      var cursor = Cursor(body)
      self.init(0)
      (previous, time) = (try cursor.take(32), try cursor.integer())
      (action, flags, zero) = (try cursor.integer(), try cursor.integer(), try cursor.integer())
      (uid, pid, slot, lost) = (try cursor.integer(), try cursor.integer(), try cursor.take(16), try cursor.integer())
      (program, service, key) = (try cursor.lp16(), try cursor.lp16(), try cursor.lp16())
      guard let items = Items.read(try cursor.lp32()) else { return nil }
      self.items = items
      try cursor.finish()
    } catch { return nil }
    guard zero == 0, action > 0, program.count <= 64, Name.isText(program), hasRightNames, hasRightItems(number) else {
      return nil
    }
  }

  private var hasRightNames: Bool {
    switch action {
    case 1...6: Name.isName(service) && Name.isName(key)
    case 7...14: service.isEmpty && key.isEmpty
    default: [service, key].allSatisfy { $0.isEmpty || Name.isName($0) }
    }
  }

  /// The tag of the item that an action must have.
  private static let needed: [UInt8: UInt16] = [
    Action.start: 5, Action.rotate: 6, Action.proceed: 3, Action.prune: 1, Action.acknowledge: 2,
  ]

  private func hasRightItems(_ number: UInt64) -> Bool {
    let counts: [UInt16: Set<Int>] = [
      1: [16], 2: Set((1...60).map { $0 * 17 }), 3: [1], 5: [1], 6: [4], 7: [8],
    ]
    let known = items.filter { counts[$0.tag] != nil }
    guard Set(known.map(\.tag)).count == known.count, known.allSatisfy({ counts[$0.tag]!.contains($0.data.count) })
    else { return false }
    if let range, range.first < 1 || range.first > range.last || range.last >= number { return false }
    return Self.needed[action].map { item($0) != nil } ?? true
  }
}

extension Bytes {
  func word(_ offset: Int) -> UInt64 { self[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

/// Names as section 2.5 has them.
enum Name {
  static func isText(_ bytes: Bytes) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  static func isName(_ bytes: Bytes) -> Bool {
    guard (1...1024).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self) else { return false }
    return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
  }
}
