/// Logs that somebody without a key, a disk, or a copy has changed.
enum LogDamageVectors {
  private static let usual = LogVectors.usual
  /// The same finding where nothing acknowledges it.
  private static let interrupted = LogFinding(.interrupted, 17)

  static var all: [LogVector] { headers + files + events + ends + strangers + marks }

  private static var headers: [LogVector] {
    [
      damaged("no-header", "the current file was cut off in its header", .init(.noHeader, 16)) {
        $0.log.current.bytes.removeSubrange(199...)
      },
      damaged("no-header-empty", "the current file is empty", .init(.noHeader, 16)) { $0.log.current.bytes = [] },
      damaged(
        "no-header-first", "the first file was cut off in its header", usual, .init(.noHeader, 1),
        .init(.fileMissing, 1, 8)
      ) {
        $0.log.files[0].bytes.removeSubrange(255...)
      },
      damaged("header-state", "a bit of the state is flipped", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.flip(at: 255)
      },
      damaged("header-magic", "text mode: the magic has lost a byte's meaning", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes[4] = 0x0A
      },
      damaged("header-version-zero", "version 0", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt16(0), at: 8)
      },
      damaged("header-zero", "the reserved bytes are not zero", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt16(1), at: 10)
      },
      damaged("header-epoch-zero", "epoch 0", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt32(0), at: 12)
      },
      damaged("header-epoch-2-31", "epoch 2^31", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt32(1 << 31), at: 12)
      },
      damaged("header-epoch-other", "an earlier epoch beside the state", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt32(2), at: 12)
      },
      damaged("header-epoch-later", "a later epoch beside the state", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt32(4), at: 12)
      },
      damaged("header-epoch-later-first", "the same in the first file", usual, .init(.badHeader, 1)) {
        $0.log.files[0].bytes.store(UInt32(4), at: 12)
      },
      damaged(
        "header-epoch-later-state", "a later epoch, and a bit of the state is flipped", usual, .init(.badHeader, 16)
      ) { $0.stateLaterEpoch() },
      damaged(
        "header-epoch-later-before", "the same, and a frame of that epoch before the events", usual,
        .init(.badHeader, 16), .init(.debris, 16)
      ) {
        $0.stateLaterEpoch()
        $0.log.current.bytes.insert(contentsOf: laterFrame, at: LogHeader.count)
      },
      damaged(
        "header-epoch-later-other", "the same, and a frame of another epoch behind the events", usual,
        .init(.badHeader, 16), .init(.debris, 21, certain: false)
      ) {
        $0.stateLaterEpoch(5)
        $0.log.current.bytes += laterFrame
      },
      damaged(
        "header-epoch-later-behind", "the same, and a frame of that epoch behind the events: as in an older vault",
        usual,
        .init(.laterKey, 21)
      ) {
        $0.stateLaterEpoch()
        $0.log.current.bytes += laterFrame
      },
      damaged(
        "header-epoch-later-file", "the same in the second file, behind whose events the third goes on", usual,
        .init(.badHeader, 9)
      ) {
        $0.log.files[1].bytes.store(UInt32(4), at: 12)
        $0.log.files[1].bytes.flip(at: 255)
        $0.log.files[1].bytes += laterFrame
      },
      damaged(
        "header-epoch-later-cut",
        "the same, and the last event before that frame is gone: the third is read all the same",
        usual, .init(.laterKey, 21), .init(.fileMissing, 15)
      ) {
        $0.log.files[1].cut(from: 15)
        $0.log.files[1].bytes.store(UInt32(4), at: 12)
        $0.log.files[1].bytes.flip(at: 255)
        $0.log.files[1].bytes += laterFrame
      },
      damaged("header-group", "the id of a different group", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.flip(at: 32)
      },
      damaged("header-vault", "the id of a different vault", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.flip(at: 16)
      },
      damaged(
        "header-other-file", "the header of the file before", usual, .init(.fileMissing, 16), .init(.missing, 9, 15),
        .init(.oldState, 21)
      ) { $0.log.current.bytes.replaceSubrange(..<LogHeader.count, with: $0.log.files[1].bytes[..<LogHeader.count]) },
      damaged("header-first", "the first file's header is damaged, and the file is whole", usual, .init(.badHeader, 1))
      {
        $0.log.files[0].bytes.flip(at: 100)
      },
      damaged("header-pruned", "the oldest file that is left has no header", usual, .init(.badHeader, 1)) {
        $0.log.dropFirst()
        $0.log.files[0].bytes.flip(at: 100)
      },
      damaged(
        "header-hides", "a damaged header, and an event behind it is missing", usual, .init(.badHeader, 9),
        .init(.missing, 9, certain: false)
      ) {
        $0.log.files[1].bytes.flip(at: 100)
        $0.log.files[1].zero(9)
      },
      damaged("header-version-later", "version 2 beside the state", usual, .init(.badHeader, 16)) {
        $0.log.current.bytes.store(UInt16(2), at: 8)
      },
      damaged(
        "header-version-later-epoch", "version 2, epoch 0, and a state that does not open", usual, .init(.badHeader, 16)
      ) {
        $0.stateLaterVersion(2)
        $0.log.current.bytes.store(UInt32(0), at: 12)
      },
      damaged("later-version", "version 2, and a state that does not open", .init(.laterVersion, 16)) {
        $0.stateLaterVersion(2)
      },
      damaged(
        "later-version-first", "the same in the first file", usual, .init(.laterVersion, 1), .init(.fileMissing, 1, 8)
      ) { $0.stateLaterVersion(0) },
      damaged("later-version-marked", "version 2, and a mark that knows more", .init(.laterVersion, 16)) {
        $0.stateLaterVersion(2)
        $0.mark = (20, $0.log.current.state.last)
      },
    ]
  }

  /// What looks like event 21 of the next epoch.
  private static var laterFrame: Bytes {
    .integer(UInt32(216)) + .integer(UInt32(4)) + .integer(UInt64(21)) + .zeros(200)
  }

  private static var files: [LogVector] {
    [
      damaged("file-missing", "the middle file is gone", usual, .init(.fileMissing, 9, 15)) { $0.log.remove(1) },
      damaged(
        "first-missing", "the first file is gone, and event 16 names fewer events", usual, .init(.earlierFiles, 1, 8),
        prune: 7
      ) {
        $0.log.dropFirst()
      },
      damaged(
        "two-missing", "the first two files are gone, and event 16 names the first only", usual,
        .init(.earlierFiles, 1, 15)
      ) {
        $0.log.files.removeFirst(2)
      },
      damaged(
        "first-twice", "the first file also has the second one's name", usual, .init(.fileMissing, 9),
        .init(.fileMissing, 9, 15), .init(.earlierKey, 1)
      ) {
        $0.log.files[1] = $0.log.files[0]
        $0.names = [1, 2]
      },
      damaged("no-log", "the current file is gone", .init(.noLog, 16)) {
        $0.log.files.removeLast()
        $0.hasCurrent = false
      },
      damaged("no-log-at-all", "all files are gone", .init(.noLog, 1)) {
        $0.log.files = []
        $0.hasCurrent = false
      },
      damaged(
        "no-log-marked", "the current file is gone, and the mark knows of it", .init(.noLog, 16),
        .init(.behindMark, 16, 20)
      ) {
        $0.mark = (20, $0.log.current.state.last)
        $0.log.files.removeLast()
        $0.hasCurrent = false
      },
    ]
  }

  private static var events: [LogVector] {
    [
      damaged("event-flipped", "a bit of event 3 is flipped", usual, .init(.missing, 3)) {
        $0.log.files[0].bytes.flip(at: $0.log.files[0].places[3]!.lowerBound + 100)
      },
      damaged("event-zeroed", "event 17 is zero; it was synced", .init(.missing, 17)) { $0.log.current.zero(17) },
      damaged("event-first", "event 1 is zero", usual, .init(.missing, 1)) { $0.log.files[0].zero(1) },
      damaged("event-number", "the number of event 4 is changed", usual, .init(.missing, 4)) {
        $0.log.files[0].bytes.flip(at: $0.log.files[0].places[4]!.lowerBound + 8)
      },
      damaged("event-epoch", "the epoch beside event 4 is that of another key", usual, .init(.missing, 4)) {
        $0.log.files[0].bytes.store(UInt32(2), at: $0.log.files[0].places[4]!.lowerBound + 4)
      },
      damaged("event-epoch-later", "the epoch beside event 17 is later than the section's", .init(.missing, 17)) {
        $0.log.current.bytes.store(UInt32(4), at: $0.log.current.places[17]!.lowerBound + 4)
      },
      damaged("event-length", "the length of event 17 is 8", .init(.missing, 17)) {
        $0.log.current.bytes.store(UInt32(8), at: $0.log.current.places[17]!.lowerBound)
      },
      damaged(
        "event-length-beyond", "the length of event 20 goes beyond the end", usual, .init(.missing, 20, certain: false)
      ) {
        $0.log.current.bytes.store(UInt32(4096), at: $0.log.current.places[20]!.lowerBound)
      },
      damaged("event-swapped", "events 17 and 18 have changed places", .init(.missing, 17), .init(.outOfOrder, 17)) {
        let file = $0.log.current
        $0.log.current.bytes.replaceSubrange(
          file.places[17]!.lowerBound..<file.places[18]!.upperBound, with: file.bytes(of: 18) + file.bytes(of: 17))
      },
      damaged("event-twice", "event 17 stands there twice", usual, .init(.outOfOrder, 17), .init(.fork, 20)) {
        let file = $0.log.current
        $0.log.current.bytes.insert(contentsOf: file.bytes(of: 17), at: file.places[17]!.upperBound)
      },
      damaged("event-removed", "event 18 was cut out", usual, .init(.missing, 18), .init(.fork, 20)) {
        $0.log.current.bytes.removeSubrange($0.log.current.places[18]!)
      },
      damaged("event-other-key", "event 3 sealed with a different key", usual, .init(.missing, 3)) {
        var stranger = LogMaker(
          place: LogPlace(vaultID: $0.draft.vaultID, group: $0.draft.groups[1].id, epoch: 3, keys: [1: .run(from: 9)]),
          seed: "SPV1 stranger")
        let bytes = stranger.sealed(.read, epoch: 1, number: 3)
        $0.log.files[0].bytes.store(bytes, at: $0.log.files[0].places[3]!.lowerBound)
      },
      damaged("debris", "8 bytes between events 17 and 18", usual, .init(.debris, 18), .init(.fork, 20)) {
        $0.log.current.bytes.insert(contentsOf: Bytes("whatever"), at: $0.log.current.places[17]!.upperBound)
      },
      started("debris-epoch-zero", "a frame but for its epoch 0, before the first event", .init(.debris, 1), epoch: 0),
      started("debris-epoch-2-31", "the same with epoch 2^31", .init(.debris, 1), epoch: 1 << 31),
      damaged(
        "debris-frame", "a frame of an epoch whose key is lost, between events of a later one", usual,
        .init(.lostKey, 1, 5),
        .init(.debris, 18), .init(.fork, 20)
      ) {
        $0.draft.setLog(1, $0.draft.logItem(1, earlier: [2]))
        let frame = Bytes.integer(UInt32(216)) + .integer(UInt32(1)) + .integer(UInt64(18)) + .zeros(200)
        $0.log.current.bytes.insert(contentsOf: frame, at: $0.log.current.places[17]!.upperBound)
      },
    ]
  }

  private static var ends: [LogVector] {
    [
      damaged(
        "debris-end", "an append that was cut off behind the last event", usual, .init(.debris, 21, certain: false)
      ) {
        let bytes = $0.log.sealed(.read, epoch: 3, number: 21)
        $0.log.current.bytes += bytes.prefix(100) + .zeros(400)
      },
      damaged(
        "debris-end-later", "a frame of a later epoch behind the last event", usual, .init(.debris, 21, certain: false)
      ) { $0.log.current.bytes += laterFrame },
      damaged("debris-end-byte", "one byte behind the last event", usual, .init(.debris, 21, certain: false)) {
        $0.log.current.bytes += [1]
      },
      damaged(
        "end-cut", "the last two events are cut off, and the machine was started since", interrupted,
        .init(.missing, 19, 20, certain: false)
      ) {
        $0.log.current.cut(from: 19)
      },
      damaged(
        "end-cut-synced", "the last three events are cut off; the first of them was synced", interrupted,
        .init(.missing, 18, 20)
      ) {
        $0.log.current.cut(from: 18)
      },
      damaged("debris-hand-over", "bytes behind *hand over*, behind which no writer writes", usual, .init(.debris, 16))
      {
        $0.log.files[1].bytes += Bytes("whatever")
      },
      damaged(
        "debris-not-handed-over", "a file that was renamed by hand, with an append that was cut off", usual,
        .init(.debris, 15, certain: false), .init(.notHandedOver, 14), .init(.fileMissing, 15)
      ) {
        let headers = $0.log.files[1].headers
        $0.log.files[1].bytes.replaceSubrange(..<LogHeader.count, with: headers[headers.count - 2])
        $0.log.files[1].cut(from: 15)
        $0.log.files[1].bytes += Bytes("whatever")
      },
      damaged(
        "end-cut-handed-over", "the end of a handed-over file is cut off", usual, .init(.missing, 15),
        .init(.notHandedOver, 15)
      ) {
        $0.log.files[1].cut(from: 15)
      },
      damaged("older-header", "an earlier header; three appends stand behind it", usual, .init(.oldState, 21)) {
        $0.log.putBackHeader(3)
      },
      damaged("older-header-and-end", "an earlier header and length: undetected without a mark", interrupted) {
        $0.log.putBackHeader(2)
        $0.log.current.cut(from: 19)
      },
      damaged("behind-mark", "the same, and the mark knows more", interrupted, .init(.behindMark, 19, 20)) {
        $0.mark = (20, $0.log.current.state.last)
        $0.log.putBackHeader(2)
        $0.log.current.cut(from: 19)
      },
      damaged("mark-other-tag", "the mark has a different tag for event 18", usual, .init(.behindMark, 18)) {
        $0.mark = (18, .run(from: 1))
      },
    ]
  }

  /// Headers without anything behind them, under names of handed-over files.
  private static var strangers: [LogVector] {
    [
      damaged(
        "later-version-between", "a header of version 2 between the second file and the third, which goes on behind it",
        usual, .init(.badHeader, 16)
      ) { $0.insertHeader { $0.store(UInt16(2), at: 8) } },
      damaged(
        "later-version-between-marked", "the same, and the mark knows more", interrupted, .init(.badHeader, 16),
        .init(.behindMark, 19, 20)
      ) {
        $0.mark = (20, $0.log.current.state.last)
        $0.log.putBackHeader(2)
        $0.log.current.cut(from: 19)
        $0.insertHeader { $0.store(UInt16(2), at: 8) }
      },
      LogVector(
        "later-key-before", "a header of a later epoch before the first file, and the mark knows more",
        .init(.badHeader, 1), .init(.behindMark, 3)
      ) {
        $0.log.begin()
        $0.log.append(.start(1), epoch: 3, synced: true)
        $0.log.append(.write, epoch: 3)
        $0.mark = (3, .run(from: 1))
        $0.insertHeader { $0.store(UInt32(4), at: 12) }
      },
      LogVector(
        "later-key-before-continued", "a header of a later epoch, and a log that began again as the second file",
        .init(.laterKey, 1), .init(.continued, 1)
      ) {
        $0.log.begin(number: 2)
        $0.log.append(.proceed(1), epoch: 3, synced: true)
        $0.insertHeader { $0.store(UInt32(4), at: 12) }
      },
    ]
  }

  private static var marks: [LogVector] {
    [
      damaged(
        "mark-event-cut", "the last two events are cut off, and the mark names the last, which was on the disk",
        interrupted, .init(.missing, 19, 20), .init(.behindMark, 20)
      ) {
        $0.mark = (20, $0.log.current.state.last)
        $0.log.current.cut(from: 19)
      },
      damaged(
        "mark-event-zeroed", "event 19 is zero, which the mark names", interrupted, .init(.missing, 19),
        .init(.behindMark, 19)
      ) {
        $0.mark = (19, Bytes($0.log.current.bytes(of: 19)[16...]).tag)
        $0.log.current.zero(19)
      },
      damaged(
        "mark-before-cut", "the last two events are cut off, and the mark names the one before", interrupted,
        .init(.missing, 19, 20, certain: false)
      ) {
        $0.mark = (18, Bytes($0.log.current.bytes(of: 18)[16...]).tag)
        $0.log.current.cut(from: 19)
      },
    ]
  }

  /// Bytes that look like event 1 of an epoch, and a log that starts behind them.
  private static func started(_ name: String, _ about: String, _ finding: LogFinding, epoch: UInt32) -> LogVector {
    LogVector(name, about, finding) {
      $0.log.begin()
      $0.log.current.bytes += .integer(UInt32(216)) + .integer(epoch) + .integer(UInt64(1)) + .zeros(200)
      $0.log.append(.start(1), epoch: 3, synced: true)
    }
  }

  static func damaged(
    _ name: String, _ about: String, _ findings: LogFinding..., prune last: UInt64 = 8,
    change: @escaping (inout LogScene) -> Void
  ) -> LogVector {
    LogVector(name, about, findings) {
      $0.writeUsual(prune: last)
      change(&$0)
    }
  }
}

extension LogScene {
  /// Puts a later version beside a state that does not open.
  fileprivate mutating func stateLaterVersion(_ file: Int) {
    log.files[file].bytes.store(UInt16(2), at: 8)
    log.files[file].bytes.flip(at: 255)
  }

  /// Puts a file before the current one that has only its header, changed, and a state that does not open.
  fileprivate mutating func insertHeader(_ change: (inout Bytes) -> Void) {
    var file = log.current
    file.state.file = log.files.count == 1 ? 1 : 500
    file.bytes.removeSubrange(LogHeader.count...)
    file.bytes.flip(at: 255)
    change(&file.bytes)
    log.files.insert(file, at: log.files.count - 1)
  }

  /// Puts a later epoch beside a state that does not open.
  fileprivate mutating func stateLaterEpoch(_ epoch: UInt32 = 4) {
    log.current.bytes.store(epoch, at: 12)
    log.current.bytes.flip(at: 255)
  }
}
