/// The header of a log file and its state (annex F.2, F.3).
struct LogHeader {
  static let count = 256
  static let magic: Bytes = [0x89, 0x53, 0x50, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  var file: UInt64 = 1
  var first: UInt64 = 1
  var before = Bytes.zeros(32)
  var count: UInt64 = 0
  var end: UInt64 = 256
  var last = Bytes.zeros(32)
  var boot = Bytes.zeros(32)
  var synced: UInt64 = 0

  var body: Bytes {
    var out = Bytes.integer(file) + .integer(first) + before
    out += .integer(count) + .integer(end) + last
    return out + boot + .integer(synced)
  }

  init() {}

  /// The header of a file, or what it is instead of one.
  static func read(_ bytes: Bytes, _ place: LogPlace) -> Result<LogHeader, LogFinding.Refused> {
    guard bytes.count >= count else { return .failure(.noHeader) }
    var cursor = Cursor(Bytes(bytes[..<count]))
    do {
      let isMagic = try cursor.take(8) == magic
      let version: UInt16 = try cursor.integer()
      let zero: UInt16 = try cursor.integer()
      let epoch: UInt32 = try cursor.integer()
      let ids = try cursor.take(32)
      guard isMagic, zero == 0, ids == place.vaultID + place.group, version != 0, LogPlace.epochs.contains(epoch) else {
        return .failure(.badHeader)
      }
      guard version == 1 else { return .failure(opens(bytes, place) ? .badHeader : .laterVersion) }
      guard epoch <= place.epoch else { return .failure(opens(bytes, place) ? .badHeader : .laterKey(epoch)) }
      guard let key = place.keys[epoch] else { return .failure(.lostKey) }
      guard let body = Sealing.open(try cursor.take(208), key: key, context: place.stateContext()) else {
        return .failure(.badHeader)
      }
      let header = try LogHeader(body: body)
      return header.isWithinBounds ? .success(header) : .failure(.badHeader)
    } catch { return .failure(.badHeader) }
  }

  /// Whether a key of the reader opens the state, whatever stands before it.
  static func opens(_ file: Bytes, _ place: LogPlace) -> Bool {
    guard file.count >= count else { return false }
    let state = Bytes(file[48..<count])
    return place.keys.values.contains { Sealing.open(state, key: $0, context: place.stateContext()) != nil }
  }

  private init(body: Bytes) throws {
    var cursor = Cursor(body)
    (file, first, before) = (try cursor.integer(), try cursor.integer(), try cursor.take(32))
    (count, end, last) = (try cursor.integer(), try cursor.integer(), try cursor.take(32))
    (boot, synced) = (try cursor.take(32), try cursor.integer())
    try cursor.finish()
  }

  private var isWithinBounds: Bool {
    let isEmpty = count == first &- 1
    return (1..<(1 << 31)).contains(file) && LogPlace.numbers.contains(first) && (before == .zeros(32)) == (first == 1)
      && count >= first - 1 && count <= LogPlace.numbers.upperBound && (!isEmpty || (last == before && end == 256))
      && (256...(1 << 30)).contains(end) && end.isMultiple(of: 8) && synced <= count
  }
}
