/// The files of a log, damaged at random: by bytes, by events, by headers, and by files.
struct LogDamage {
  private(set) var handedOver: [Bytes]
  private(set) var current: Bytes?
  private let headers: [Bytes]
  private let place: LogPlace
  private var random: RandomStream

  /// - Parameter headers: earlier ones of the current file.
  init(handedOver: [Bytes], current: Bytes?, headers: [Bytes], place: LogPlace, seed: String) {
    self.handedOver = handedOver
    self.current = current
    self.headers = headers
    self.place = place
    random = RandomStream(seed: seed)
  }

  /// One to three changes.
  mutating func damage() {
    for _ in 0...below(3) { change() }
  }

  private mutating func below(_ bound: Int) -> Int { bound < 1 ? 0 : Int(random.draw(8).word(0) % UInt64(bound)) }

  private mutating func change() {
    let isCurrent = handedOver.isEmpty || below(3) > 0
    guard var file = isCurrent ? current : handedOver.first else { return }
    let index = isCurrent ? 0 : below(handedOver.count)
    if !isCurrent { file = handedOver[index] }
    guard let changed = changed(file) else {
      if isCurrent { current = nil } else { handedOver.remove(at: index) }
      return
    }
    if isCurrent { current = changed } else { handedOver[index] = changed }
  }

  /// `nil` for a file that is removed.
  private mutating func changed(_ file: Bytes) -> Bytes? {
    var out = file
    let events = Self.events(file)
    let some = events.isEmpty ? 0..<min(8, file.count) : events[below(events.count)]
    let other = events.isEmpty ? some : events[below(events.count)]
    guard !file.isEmpty else { return file }
    switch below(19) {
    case 0, 1: out[below(file.count)] ^= 1 << UInt8(below(8))
    case 2: out[min(file.count - 1, some.lowerBound + below(16))] ^= 1 << UInt8(below(8))
    case 3: out.removeSubrange(below(file.count)...)
    case 4: out.removeSubrange(some.lowerBound...)
    case 5: out.store(.zeros(some.count), at: some.lowerBound)
    case 6:
      let start = below(file.count) / 8 * 8
      out.store(.zeros(min(512, file.count - start)), at: start)
    case 7:
      let (first, second) = some.lowerBound < other.lowerBound ? (some, other) : (other, some)
      guard first.upperBound <= second.lowerBound else { break }
      out.replaceSubrange(second, with: file[first])
      out.replaceSubrange(first, with: file[second])
    case 8: out.insert(contentsOf: file[some], at: other.lowerBound)
    case 9: out.removeSubrange(some)
    case 10: out.insert(contentsOf: random.draw(8 * (1 + below(40))), at: some.lowerBound)
    case 11: out += random.draw(1 + below(300))
    case 12 where !headers.isEmpty:
      out.replaceSubrange(..<min(LogHeader.count, file.count), with: headers[below(headers.count)])
    case 13: out = restated(file)
    case 14:
      let frame = Bytes.integer(UInt32(216)) + .integer(UInt32(below(5))) + .integer(UInt64(below(40))) + .zeros(200)
      out.insert(contentsOf: frame, at: some.lowerBound)
    case 15 where below(4) == 0: return nil
    case 16 where file.count >= LogHeader.count: out.store(UInt32(below(6)), at: 12)
    case 17 where file.count >= LogHeader.count: out.store(UInt16(below(3)), at: 8)
    case 18 where file.count >= LogHeader.count:
      // As if the vault were older than its log.
      out.store(UInt32(9), at: 12)
      out.flip(at: 100)
      guard let last = events.last else { break }
      out.store(UInt32(9), at: last.lowerBound + 4)
    default: out.store(UInt32(below(6)), at: some.lowerBound + 4)
    }
    return out
  }

  /// The header of a different start of the machine, and with less that was synced.
  private mutating func restated(_ file: Bytes) -> Bytes {
    guard case .success(var state) = LogHeader.read(file, place),
      let key = place.keys[file[12...].prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }]
    else { return file }
    state.boot = below(2) == 0 ? .zeros(32) : .run(from: 1)
    state.synced = UInt64(below(Int(state.synced) + 1))
    let sealed = Sealing.seal(state.body, key: key, context: place.stateContext(), random: random.draw(24))
    return Bytes(file[..<48]) + sealed + file[LogHeader.count...]
  }

  /// The frames of a file, one behind the other.
  private static func events(_ file: Bytes) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var position = LogHeader.count
    while let frame = LogFrame(file, at: position) {
      ranges.append(position..<position + frame.count)
      position += frame.count
    }
    return ranges
  }
}
