/// Logs that are right, in all the states that a log can be in.
enum LogVectors {
  typealias Action = LogEvent.Action

  static var all: [LogVector] { whole + states + LogDamageVectors.all + LogHolderVectors.all + LogVaultVectors.all }

  /// What a verification finds in the usual log: an append that was interrupted, and the event that acknowledges it.
  static let usual = LogFinding(.interrupted, 17, acknowledged: true)

  private static var whole: [LogVector] {
    [
      LogVector("whole", "twenty events in three epochs and three files; a power failure, a prune", usual) {
        $0.writeUsual()
        $0.listsEvents = true
      },
      LogVector("holder", "the same, verified by a holder", usual) {
        $0.writeUsual()
        $0.credential = .holder
      },
      LogVector("pruned", "the first file was removed, as event 16 says", usual) {
        $0.writeUsual()
        $0.log.dropFirst()
      },
      LogVector("reserve", "a reserve behind the last event", usual) {
        $0.writeUsual()
        $0.log.current.bytes += .zeros(4096)
      },
      LogVector("reserve-odd", "a reserve that is no multiple of 8", usual) {
        $0.writeUsual()
        $0.log.current.bytes += .zeros(13)
      },
      LogVector("started", "a log of one event") {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3, synced: true)
      },
      LogVector("marked", "the mark knows the newest event", usual) {
        $0.writeUsual()
        $0.mark = (20, $0.log.current.state.last)
      },
      LogVector("marked-earlier", "the mark knows an event of a file before", usual) {
        $0.writeUsual()
        $0.mark = (12, Bytes($0.log.files[1].bytes(of: 12)[16...]).tag)
      },
      LogVector("marked-pruned", "the mark knows an event that was pruned", usual) {
        $0.writeUsual()
        $0.mark = (3, .run(from: 1))
        $0.log.dropFirst()
      },
      LogVector("later", "an action, a flag and an item of later versions") {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        var event = LogEvent(15, "", "only a key")
        event.flags = 0xE0
        event.items = [(0, []), (4, [1]), (9, [1, 2]), (9, [])]
        $0.log.append(event, epoch: 3)
        event = LogEvent(255)
        event.program = []
        $0.log.append(event, epoch: 3)
        $0.listsEvents = true
      },
    ]
  }

  private static var states: [LogVector] {
    [
      LogVector("continued", "the current file was not there, and a new one goes on", .init(.continued, 16)) {
        $0.writeUntilHandOver()
        $0.log.begin()
        $0.log.append(.proceed(1), epoch: 3, synced: true)
      },
      LogVector(
        "continued-acknowledged", "the same, and a holder has looked at it", .init(.continued, 16, acknowledged: true)
      ) {
        $0.writeUntilHandOver()
        $0.log.begin()
        $0.log.append(.proceed(3), epoch: 3, synced: true)
        $0.log.append(.acknowledge([(.continued, 16, 16)]), epoch: 3)
      },
      LogVector("hand-over-interrupted", "handing over ended before the new file was made: both names, one file") {
        $0.writeUntilHandOver()
        $0.log.repeatLast()
        $0.names = [1, 2]
      },
      LogVector("hand-over-copied", "the same, and the second name is a copy of the file before its last two events") {
        $0.writeUntilHandOver()
        $0.log.repeatLast()
        $0.names = [1, 2]
        let headers = $0.log.files[1].headers
        $0.log.files[1].bytes.replaceSubrange(..<LogHeader.count, with: headers[headers.count - 3])
        $0.log.files[1].cut(from: 14)
      },
      LogVector(
        "hand-over-forked", "the same, and the second name has another event 14", .init(.earlierKey, 9),
        .init(.fileMissing, 15), .init(.notHandedOver, 14)
      ) {
        $0.writeUntilHandOver()
        let current = $0.log.files[1]
        $0.log.files[1].cut(from: 14)
        $0.log.files[1].state.count = 13
        $0.log.files[1].state.last = Bytes(current.bytes(of: 13)[16...]).tag
        $0.log.append(.read, epoch: 3, boot: LogMaker.nextBoot, synced: true)
        $0.log.files.append(current)
        $0.names = [1, 2]
      },
      LogVector("hand-over-unnamed", "handing over ended before the second name was given") { $0.writeUntilHandOver() },
      LogVector("behind-one", "a writer was killed before it wrote the header of its append", usual) {
        $0.writeUsual()
        $0.log.putBackHeader(1)
      },
      LogVector("behind-two-events", "the same, with an append of two events", usual) {
        $0.writeUsual()
        $0.log.append(.copy, .write, epoch: 3)
        $0.log.putBackHeader(1)
      },
      LogVector("empty-file", "a file that was handed over to, and no event yet") {
        $0.writeUntilHandOver()
        $0.log.begin()
        $0.log.restate(epoch: 3)
      },
      LogVector(
        "power", "events that were not synced are gone, and the machine was started since",
        .init(.missing, 19, 20, certain: false)
      ) {
        $0.writeUsual(flags: 0)
        $0.log.current.cut(from: 19)
      },
      LogVector(
        "power-continued", "the same in the middle: event 10 was written behind the start, and knows what was synced",
        usual, .init(.missing, 9, certain: false)
      ) {
        $0.writeUsual()
        $0.log.files[1].zero(9)
      },
    ]
  }
}

extension LogMaker {
  mutating func dropFirst() { remove(0) }

  /// The state before `appends` appends.
  mutating func putBackHeader(_ appends: Int) {
    let headers = current.headers
    current.bytes.replaceSubrange(..<LogHeader.count, with: headers[headers.count - 1 - appends])
  }
}

extension LogEvent {
  static let read = LogEvent(Action.read, "git", "token")
  static let write = LogEvent(Action.write, "git", "token")
  static let edit = LogEvent(Action.edit, "git", "token")
  static let copy = LogEvent(Action.copy, "git", "user")
  static let remove = LogEvent(Action.remove, "git", "user")
  static let newKey = LogEvent(Action.newKey)
  static let handOver = LogEvent(Action.handOver)

  static func start(_ policy: UInt8) -> LogEvent { LogEvent(Action.start, item: 5, [policy]) }
  static func proceed(_ why: UInt8) -> LogEvent { LogEvent(Action.proceed, item: 3, [why]) }
  static func rotate(_ epoch: UInt32) -> LogEvent { LogEvent(Action.rotate, item: 6, .integer(epoch)) }
  static func prune(_ first: UInt64, _ last: UInt64) -> LogEvent {
    LogEvent(Action.prune, item: 1, .integer(first) + .integer(last))
  }

  static func acknowledge(_ findings: [(LogFinding.Code, UInt64, UInt64)]) -> LogEvent {
    LogEvent(Action.acknowledge, item: 2, findings.flatMap { [$0.0.rawValue] + .integer($0.1) + .integer($0.2) })
  }

  private init(_ action: UInt8, item tag: UInt16, _ data: Bytes) {
    self.init(action)
    items = [(tag, data)]
  }

  func with(flags: UInt8) -> LogEvent {
    var event = self
    event.flags |= flags
    return event
  }

  /// Written by the first append behind a start of the machine.
  func restarted(synced: UInt64) -> LogEvent {
    var event = with(flags: 16)
    event.items.append((7, .integer(synced)))
    return event
  }
}

extension LogScene {
  /// Two files, both handed over, with events 1 to 15.
  mutating func writeUntilHandOver() {
    log.begin()
    log.append(.start(1), epoch: 1, synced: true)
    log.append(.write, epoch: 1, synced: true)
    log.append(.read, epoch: 1)
    log.append(LogEvent(LogEvent.Action.restore, "git", "token"), epoch: 1, synced: true)
    log.append(.rotate(2), epoch: 1, synced: true)
    log.append(.newKey, epoch: 2, synced: true)
    log.append(.edit, epoch: 2, synced: true)
    log.append(.handOver, epoch: 2, synced: true)
    log.begin()
    log.current.state.synced = 8
    log.append(.read, epoch: 2)
    log.append(LogEvent.read.restarted(synced: 8), epoch: 2, boot: LogMaker.nextBoot)
    log.append(.copy, .write, epoch: 2, boot: LogMaker.nextBoot, synced: true)
    log.append(.rotate(3), epoch: 2, boot: LogMaker.nextBoot, synced: true)
    log.append(.newKey, epoch: 3, boot: LogMaker.nextBoot, synced: true)
    log.append(.handOver, epoch: 3, boot: LogMaker.nextBoot, synced: true)
  }

  /// Three files with events 1 to 20; 18 is synced.
  ///
  /// - Parameter flags: of event 17.
  mutating func writeUsual(flags: UInt8 = 2, prune last: UInt64 = 8) {
    writeUntilHandOver()
    log.begin()
    log.append(.prune(1, last), epoch: 3, boot: LogMaker.nextBoot, synced: true)
    log.append(LogEvent.read.with(flags: flags), epoch: 3, boot: LogMaker.nextBoot)
    log.append(.remove, epoch: 3, boot: LogMaker.nextBoot, synced: true)
    log.append(.acknowledge([(.interrupted, 17, 17)]), epoch: 3, boot: LogMaker.nextBoot)
    var read = LogEvent.read
    read.lost = 3
    log.append(read, epoch: 3, boot: LogMaker.nextBoot)
  }
}
