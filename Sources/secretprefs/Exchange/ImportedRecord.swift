internal import VaultCore

/// What a record of `export --format records` or of an archive has besides its key and its value.
struct ImportedRecord {
  /// A value, and where it is in the file.
  struct Content {
    let bytes: Range<Int>
    let spelling: PlainSpelling
    /// When it was set, in an archive.
    var modified: Int64?
  }

  /// When a key of an archive was removed, and until when it is kept.
  struct Removal {
    let removed: Int64
    let keptUntil: Int64
  }

  let service: String
  /// The access group.
  var group: String?
  var accessibility = Vault.Accessibility.whenUnlocked
  var edit = RecordEdit()
  /// `nil` if it was never set.
  var historyDepth: UInt16?
  /// The values before, newest first.
  var earlier: [Content] = []
  /// The times that the record keeps; `nil` if it gets those of the import.
  var times: RecordTimes?
  /// Not nil if the key was removed. Its value is the one that it had until then.
  var removal: Removal?

  init(service: String) { self.service = service }

  /// Ends a rotation that is not confirmed: its mark names a revision of the vault that the file is of.
  ///
  /// - Returns: whether there was one.
  mutating func endRotation() -> Bool {
    guard case .set(let attributes) = edit.attributes,
      let mark = attributes.first(where: { $0.name.text == RotationMark.attribute })?.text.flatMap(RotationMark.init)
    else { return false }
    let others = attributes.filter { $0.name.text != RotationMark.attribute }
    edit.attributes = others.isEmpty ? .remove : .set(others)
    historyDepth = mark.depth
    return true
  }

  /// How many transactions it takes: one for each value, oldest first, and one for the removal.
  var stepCount: Int { earlier.count + (removal == nil ? 1 : 2) }

  /// The times that one of the values gets.
  func times(of earlier: Content?) -> RecordTimes? {
    times.map { RecordTimes(created: $0.created, modified: earlier?.modified ?? $0.modified) }
  }

  /// The metadata that is stored with one of the values.
  ///
  /// - Parameters:
  ///   - isLast: whether it is the present value. The others are stored before, oldest first.
  ///   - count: the number of values that the vault has of the key, also of a removed one. All of them are kept.
  func edit(isLast: Bool, keeping count: Int) -> RecordEdit {
    var edit = isLast ? self.edit : RecordEdit()
    // A removed key keeps its own value besides.
    let depth = max(historyDepth ?? 0, UInt16(clamping: earlier.count + count))
    if historyDepth != nil || depth > 0 { edit.historyDepth = .set(depth) }
    edit.keepsReplacedDepth = count > 0
    return edit
  }
}
