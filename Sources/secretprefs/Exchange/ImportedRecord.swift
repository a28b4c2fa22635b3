internal import VaultCore

/// What a record of `export --format records` has besides its key and its value.
struct ImportedRecord {
  /// A value, and where it is in the file.
  struct Content {
    let bytes: Range<Int>
    let spelling: PlainSpelling
  }

  let service: String
  var accessibility = Vault.Accessibility.whenUnlocked
  var edit = RecordEdit()
  var historyDepth: UInt16 = 0
  /// The values before, newest first.
  var earlier: [Content] = []

  init(service: String) { self.service = service }

  /// The metadata that is stored with one of the values.
  ///
  /// - Parameters:
  ///   - isLast: whether it is the present value. The others are stored before, oldest first.
  ///   - replaced: the record that had the key; its value and its history are kept.
  func edit(isLast: Bool, over replaced: RecordInfo?) -> RecordEdit {
    var edit = isLast ? self.edit : RecordEdit()
    let kept = replaced.map { max($0.historyDepth, UInt16(clamping: earlier.count + 1)) } ?? 0
    edit.historyDepth = .set(max(historyDepth, UInt16(clamping: earlier.count), kept))
    return edit
  }
}
