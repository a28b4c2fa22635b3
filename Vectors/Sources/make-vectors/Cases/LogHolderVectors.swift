/// Logs that somebody with the group's key has changed.
enum LogHolderVectors {
  private static let usual = LogVectors.usual

  static var all: [LogVector] { states + chains + bodies + items + acknowledgements }

  // MARK: States

  private static var states: [LogVector] {
    [
      state("file-zero", "file 0") { $0.file = 0 },
      state("file-2-31", "file 2^31") { $0.file = 1 << 31 },
      state("first-zero", "a first event 0") { $0.first = 0 },
      state("first-2-50", "a first event 2^50") { $0.first = 1 << 50 },
      state("before-zero", "no tag before the first event, which is the sixteenth") { $0.before = .zeros(32) },
      state("count-below", "no event, and a count below that") { $0.empty(14) },
      state("count-2-50", "a count of 2^50") { $0.count = 1 << 50 },
      state("end-low", "an end within the header") { $0.end = 248 },
      state("end-high", "an end above 2^30") { $0.end = 1 << 30 + 8 },
      state("end-odd", "an end that is no multiple of 8") { $0.end += 4 },
      state("synced", "more synced than there are") { $0.synced = 21 },
      state("empty-end", "no event, and an end behind one") {
        let end = $0.end
        $0.empty(15)
        $0.end = end
      },
      state("empty-last", "no event, and a last one") {
        let last = $0.last
        $0.empty(15)
        $0.last = last
      },
      restated("fork", "the header's last event has a different tag", usual, .init(.fork, 20)) { $0.last.flip(at: 0) },
      restated("fork-end", "the header's end is not behind its last event", usual, .init(.fork, 20)) {
        $0.end = 1 << 30
      },
      restated(
        "count-ahead", "the header counts events that are not there", usual, .init(.missing, 21, 30, certain: false)
      ) {
        $0.count = 30
      },
      restated("count-behind", "the header counts two events fewer", usual, .init(.oldState, 21), .init(.fork, 18)) {
        $0.count = 18
      },
      restated(
        "before-other", "another tag before the first event", usual, .init(.fileMissing, 16), .init(.notChained, 16)
      ) {
        $0.before.flip(at: 0)
      },
      LogDamageVectors.damaged(
        "fork-continued", "the header of one continuation before the events of another", usual, .init(.fork, 20)
      ) {
        let header = $0.log.current.headers.last!
        $0.log.current.cut(from: 20)
        $0.log.current.state.count = 19
        $0.log.current.state.last = Bytes($0.log.current.bytes(of: 19)[16...]).tag
        $0.log.append(.edit, epoch: 3)
        $0.log.current.bytes.replaceSubrange(..<LogHeader.count, with: header)
      },
    ]
  }

  /// A state whose numbers no writer writes: no header, and the events behind it are right.
  private static func state(_ name: String, _ about: String, _ change: @escaping (inout LogHeader) -> Void) -> LogVector
  {
    restated("state-" + name, "a state with " + about, usual, .init(.badHeader, 16), change: change)
  }

  private static func restated(
    _ name: String, _ about: String, _ findings: LogFinding..., change: @escaping (inout LogHeader) -> Void
  ) -> LogVector {
    LogVector(name, about, findings) {
      $0.writeUsual()
      change(&$0.log.current.state)
      $0.log.restate(epoch: 3)
    }
  }

  // MARK: Chains

  private static var chains: [LogVector] {
    [
      written("not-chained", "an event that was not written behind the one before it", .init(.notChained, 3)) {
        $0.add(.read, epoch: 3, chained: false)
      },
      written("earlier-key", "an event under an earlier key", .init(.earlierKey, 3)) { $0.add(.read, epoch: 2) },
      written("missing-holder", "a number left out", .init(.missing, 3)) { $0.add(.read, epoch: 3, number: 4) },
      written("missing-length-odd", "an event of 220 bytes, which is no multiple of 8: no frame", .init(.missing, 3)) {
        $0.add(.read, epoch: 3, padded: { Sealing.pad($0, step: 128) + .zeros(4) })
        $0.current.bytes += .zeros(4)
      },
      LogVector(
        "missing-greatest", "an event with the greatest number", .init(.missing, 3, 1 << 50 - 2, certain: false)
      ) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(.read, epoch: 3, synced: true)
        $0.log.add(.read, epoch: 3, number: 1 << 50 - 1)
        $0.log.restate(epoch: 3)
      },
      numbered("debris-number-zero", "an event 0", 0),
      numbered("debris-number-2-50", "an event 2^50", 1 << 50),
      written(
        "out-of-order", "a number that was given before, in the middle", .init(.outOfOrder, 2), .init(.notChained, 3)
      ) {
        $0.add(.read, epoch: 3, number: 2)
        $0.add(.read, epoch: 3, number: 3)
      },
      written("interrupted", "bytes were erased before event 3", .init(.interrupted, 3)) {
        $0.add(LogEvent.read.with(flags: 2), epoch: 3)
      },
      written("old-state", "the state was behind by more than one append at event 3", .init(.oldState, 3)) {
        $0.add(LogEvent.read.with(flags: 4), epoch: 3)
      },
      LogVector("no-start", "a log that begins with a read", .init(.noStart, 1)) {
        $0.log.begin()
        $0.log.append(.read, epoch: 3)
      },
      LogVector("not-handed-over", "a file was renamed by hand, and a new one goes on", .init(.notHandedOver, 2)) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3, synced: true)
        $0.log.append(.read, epoch: 3, synced: true)
        $0.log.begin()
        $0.log.append(.read, epoch: 3)
      },
      LogVector("not-handed-over-empty", "a handed-over file without an event", .init(.notHandedOver, 1)) {
        $0.log.begin()
        $0.log.restate(epoch: 3)
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
      },
      LogVector(
        "begun-again", "a log begins again at 1 behind a handed-over file", .init(.fileMissing, 16),
        .init(.continued, 1)
      ) {
        $0.writeUntilHandOver()
        $0.log.begin(first: 1)
        $0.log.append(.proceed(1), epoch: 3)
      },
    ]
  }

  // MARK: Bodies

  private static var bodies: [LogVector] {
    [
      padded("padding", "padding without its mark", Pad.withoutMark(step: 128)),
      padded("padding-longer", "a step too much of padding", Pad.longer(step: 128)),
      malformed("zero", "reserved bytes that are not zero") { $0.zero = 1 },
      malformed("action-zero", "action 0") { $0.action = 0 },
      malformed("program-long", "a program of 65 bytes") { $0.program = Bytes(repeating: 0x61, count: 65) },
      malformed("program-not-utf-8", "a program that is not UTF-8") { $0.program = [0xFF] },
      malformed("name-none", "a read without a key") { $0.key = [] },
      malformed("name-control", "a service with a control character") { $0.service = Bytes("a\n") },
      malformed("name-long", "a key of 1025 bytes") { $0.key = Bytes(repeating: 0x61, count: 1025) },
      malformed("name-of-start", "names of an event that has none") { $0.action = LogEvent.Action.stop },
      malformed("name-of-later", "a bad name of a later action") {
        $0.action = 20
        $0.key = [0]
      },
      malformed("rest", "a byte behind the body") { $0.rest = [0] },
      padded("cut", "a body that ends in its extension's length") { Sealing.pad(Bytes($0.dropLast(2)), step: 128) },
      written("malformed-flags", "a malformed event whose flags say more: they are not used", .init(.malformed, 3)) {
        var event = LogEvent.read.with(flags: 31)
        event.zero = 1
        $0.add(event, epoch: 3, chained: false)
      },
    ]
  }

  private static var items: [LogVector] {
    [
      malformed("extension", "an extension that is no list") { $0.extensionField = [1, 0] },
      malformed("extension-order", "tags that do not ascend") { $0.items = [(9, []), (8, [])] },
      malformed("item-short", "item 7 of 7 bytes") { $0.items = [(7, .zeros(7))] },
      malformed("item-twice", "item 7 twice") { $0.items = [(7, .zeros(8)), (7, .zeros(8))] },
      malformed("item-none", "a start without its policy") {
        $0 = .start(1)
        $0.items = []
      },
      malformed("prune-zero", "a prune from event 0") { $0 = .prune(0, 2) },
      malformed("prune-backwards", "a prune whose end comes first") { $0 = .prune(2, 1) },
      malformed("prune-later", "a prune of itself") { $0 = .prune(1, 3) },
      malformed("acknowledge-none", "an acknowledgement of nothing") { $0 = .acknowledge([]) },
      malformed("acknowledge-many", "an acknowledgement of 61 findings") {
        $0 = .acknowledge((1...61).map { _ in (.debris, 1, 1) })
      },
      malformed("acknowledge-cut", "half a finding") { $0.items = [(2, .zeros(18))] },
    ]
  }

  // MARK: Acknowledgements

  private static var acknowledgements: [LogVector] {
    [
      acknowledged("range", "a different range", false) {
        [.acknowledge([(.debris, 3, 3), (.interrupted, 2, 3), (.interrupted, 3, 4)])]
      },
      acknowledged("code", "a different code", false) { [.acknowledge([(.oldState, 3, 3)])] },
      acknowledged("second", "the second of its findings", true) {
        [.acknowledge([(.oldState, 3, 3), (.interrupted, 3, 3)])]
      },
      acknowledged("later", "the second acknowledgement", true) {
        [.acknowledge([(.oldState, 3, 3)]), .acknowledge([(.interrupted, 3, 3)])]
      },
      LogVector("acknowledge-before", "an acknowledgement of what comes later", .init(.interrupted, 3)) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(.acknowledge([(.interrupted, 3, 3), (.interrupted, 2, 2)]), epoch: 3)
        $0.log.append(LogEvent.read.with(flags: 2), epoch: 3)
      },
      LogVector("acknowledge-itself", "an acknowledgement of its own number", .init(.interrupted, 2)) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(LogEvent.acknowledge([(.interrupted, 2, 2)]).with(flags: 2), epoch: 3)
      },
      LogVector(
        "acknowledge-missing", "a removed event that somebody has looked at", .init(.missing, 2, acknowledged: true)
      ) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(.read, epoch: 3)
        $0.log.append(.acknowledge([(.missing, 2, 2)]), epoch: 3, synced: true)
        $0.log.current.zero(2)
      },
      LogVector("acknowledge-mark", "no acknowledgement of a mark", .init(.behindMark, 2), .init(.otherSetting, 4)) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(.read, epoch: 3)
        $0.log.append(.acknowledge([(.behindMark, 2, 2), (.otherSetting, 4, 4)]), epoch: 3, synced: true)
        $0.mark = (2, .run(from: 1))
        $0.draft.setDefault(LogItem(policy: 2))
      },
      LogVector(
        "acknowledge-begun-again", "an acknowledgement in a log that began again at 1",
        .init(.fileMissing, 16, acknowledged: true), .init(.continued, 1, acknowledged: true)
      ) {
        $0.writeUntilHandOver()
        $0.log.begin(first: 1)
        $0.log.append(.proceed(1), epoch: 3)
        $0.log.append(.acknowledge([(.fileMissing, 16, 16), (.continued, 1, 1)]), epoch: 3)
      },
      LogVector(
        "acknowledge-before-begun-again", "an acknowledgement from before the log began again, of the same numbers",
        .init(.fileMissing, 4), .init(.continued, 1)
      ) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3)
        $0.log.append(.acknowledge([(.continued, 1, 1)]), epoch: 3)
        $0.log.append(.handOver, epoch: 3, synced: true)
        $0.log.begin(first: 1)
        $0.log.append(.proceed(1), epoch: 3)
      },
    ]
  }

  private static func acknowledged(
    _ name: String, _ about: String, _ isAcknowledged: Bool, events: @escaping () -> [LogEvent]
  ) -> LogVector {
    LogVector(
      "acknowledge-" + name, "an acknowledgement of " + about, .init(.interrupted, 3, acknowledged: isAcknowledged)
    ) {
      $0.log.begin()
      $0.log.append(.start(1), epoch: 3)
      $0.log.append(.read, epoch: 3)
      $0.log.append(LogEvent.read.with(flags: 2), epoch: 3)
      for event in events() { $0.log.append(event, epoch: 3) }
    }
  }

  private static func malformed(
    _ name: String, _ about: String, _ change: @escaping (inout LogEvent) -> Void
  ) -> LogVector {
    written("malformed-" + name, "a malformed event: " + about, .init(.malformed, 3)) {
      var event = LogEvent.read
      change(&event)
      $0.add(event, epoch: 3)
    }
  }

  private static func padded(_ name: String, _ about: String, _ padded: @escaping (Bytes) -> Bytes) -> LogVector {
    written("malformed-" + name, "a malformed event: " + about, .init(.malformed, 3)) {
      $0.add(.read, epoch: 3, padded: padded)
    }
  }

  /// What is sealed as an event with a number that none has: no frame.
  private static func numbered(_ name: String, _ about: String, _ number: UInt64) -> LogVector {
    written(name, about + ": no frame", .init(.debris, 3)) {
      let bytes = $0.sealed(.read, epoch: 3, number: number)
      $0.current.bytes += bytes
    }
  }

  /// A start, a read, what `add` writes, and a read behind it.
  private static func written(
    _ name: String, _ about: String, _ findings: LogFinding..., add: @escaping (inout LogMaker) -> Void
  ) -> LogVector {
    LogVector(name, about, findings) {
      $0.log.begin()
      $0.log.append(.start(1), epoch: 3)
      $0.log.append(.read, epoch: 3)
      add(&$0.log)
      $0.log.append(.read, epoch: 3, synced: true)
    }
  }
}

extension LogHeader {
  /// States no event behind this one.
  fileprivate mutating func empty(_ number: UInt64) {
    count = number
    synced = number
    last = before
    end = UInt64(Self.count)
  }
}
