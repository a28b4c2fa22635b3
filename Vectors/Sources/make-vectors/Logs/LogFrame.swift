/// The frame of an event: what can be seen without a key (annex F.4).
struct LogFrame {
  static let headCount = 16

  let count: Int
  let epoch: UInt32
  let number: UInt64
  let sealed: Bytes

  var tag: Bytes { sealed.tag }

  /// `nil` if no frame stands at `position`.
  init?(_ file: Bytes, at position: Int) {
    guard position + 216 <= file.count else { return nil }
    func integer(_ offset: Int, _ size: Int) -> UInt64 {
      file[position + offset..<position + offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    count = Int(integer(0, 4))
    epoch = UInt32(integer(4, 4))
    number = integer(8, 8)
    guard (216...4096).contains(count), count.isMultiple(of: 8), count <= file.count - position,
      LogPlace.epochs.contains(epoch), LogPlace.numbers.contains(number)
    else { return nil }
    sealed = Bytes(file[position + Self.headCount..<position + count])
  }
}

/// What stands at a place of a log file.
enum LogPart {
  /// An event, whose body is `nil` if it is malformed.
  case event(LogFrame, LogEvent?)
  /// A frame for whose epoch the reader has no key.
  case closed(LogFrame)

  init?(_ file: Bytes, at position: Int, _ place: LogPlace) {
    guard let frame = LogFrame(file, at: position) else { return nil }
    guard let key = place.keys[frame.epoch] else {
      self = .closed(frame)
      return
    }
    let context = place.eventContext(frame.number)
    guard let body = Sealing.open(frame.sealed, key: key, context: context) else { return nil }
    self = .event(frame, LogEvent(padded: body, number: frame.number))
  }
}
