/// A log as it is written: event by event, file by file.
struct LogMaker {
  /// With the keys of all epochs, also of those that the vault does not have yet.
  let place: LogPlace
  private var random: RandomStream

  /// In the order of their numbers; the last is the current one.
  var files: [LogFile] = []

  init(place: LogPlace, seed: String) {
    self.place = place
    random = RandomStream(seed: seed)
  }

  var current: LogFile {
    get { files[files.count - 1] }
    set { files[files.count - 1] = newValue }
  }

  var count: UInt64 { files.last?.state.count ?? 0 }

  /// Begins a file behind the present one, or a log.
  mutating func begin(number: UInt64? = nil, first: UInt64? = nil) {
    var state = LogHeader()
    if let last = files.last?.state {
      (state.file, state.first, state.before) = (last.file + 1, last.count + 1, last.last)
    }
    if let number { state.file = number }
    if let first { (state.first, state.before) = (first, .zeros(32)) }
    (state.count, state.last) = (state.first - 1, state.before)
    files.append(LogFile(state: state))
  }

  /// One append, synced or not. The first event gets flag 1.
  mutating func append(_ events: LogEvent..., epoch: UInt32, boot: Bytes = LogMaker.boot, synced: Bool = false) {
    for (index, event) in events.enumerated() {
      var event = event
      event.flags = index == 0 ? event.flags | 1 : event.flags & ~1
      add(event, epoch: epoch)
    }
    current.state.boot = boot
    if synced { current.state.synced = current.state.count }
    restate(epoch: epoch)
  }

  /// An event with the next number behind the last, whatever it says, and no new state.
  ///
  /// - Parameter padded: stands in place of PAD.
  mutating func add(
    _ event: LogEvent, epoch: UInt32, chained: Bool = true, number: UInt64? = nil, padded: ((Bytes) -> Bytes)? = nil
  ) {
    var event = event
    if chained { event.previous = current.state.last }
    let number = number ?? current.state.count + 1
    let bytes = sealed(event, epoch: epoch, number: number, padded: padded)
    current.places[number] = current.bytes.count..<current.bytes.count + bytes.count
    current.bytes += bytes
    current.state.count = number
    current.state.end = UInt64(current.bytes.count)
    current.state.last = Bytes(bytes[LogFrame.headCount...]).tag
  }

  mutating func sealed(
    _ event: LogEvent, epoch: UInt32, number: UInt64, padded: ((Bytes) -> Bytes)? = nil
  ) -> Bytes {
    let body = padded?(event.body) ?? Sealing.pad(event.body, step: 128)
    let sealed = Sealing.seal(
      body, key: place.keys[epoch]!, context: place.eventContext(number), random: random.draw(24))
    return .integer(UInt32(sealed.count + LogFrame.headCount)) + .integer(epoch) + .integer(number) + sealed
  }

  /// Writes the header of the current file, and remembers it.
  mutating func restate(epoch: UInt32) {
    current.headers.append(header(current.state, epoch: epoch))
    current.bytes.replaceSubrange(..<LogHeader.count, with: current.headers.last!)
  }

  mutating func header(_ state: LogHeader, epoch: UInt32, version: UInt16 = 1) -> Bytes {
    let sealed = Sealing.seal(
      state.body, key: place.keys[epoch]!, context: place.stateContext(), random: random.draw(24))
    var out = LogHeader.magic + .integer(version) + .integer(UInt16(0)) + .integer(epoch)
    out += place.vaultID + place.group
    return out + sealed
  }

  mutating func remove(_ index: Int) { files.remove(at: index) }
  mutating func repeatLast() { files.append(current) }

  /// Those of the machine's starts that logs of the vectors tell of. No reader runs in one of them.
  static let boot = Sealing.hash(32, Bytes("the first start"))
  static let nextBoot = Sealing.hash(32, Bytes("the second start"))
}

/// A file of a log, and where its events stand.
struct LogFile {
  var state: LogHeader
  var bytes = Bytes.zeros(LogHeader.count)
  /// All headers that the file ever had.
  var headers: [Bytes] = []
  var places: [UInt64: Range<Int>] = [:]

  init(state: LogHeader) { self.state = state }

  func bytes(of number: UInt64) -> Bytes { Bytes(bytes[places[number]!]) }

  /// Takes away what stands from an event on.
  mutating func cut(from number: UInt64) { bytes.removeSubrange(places[number]!.lowerBound...) }
  mutating func zero(_ number: UInt64) { bytes.store(.zeros(places[number]!.count), at: places[number]!.lowerBound) }
}
