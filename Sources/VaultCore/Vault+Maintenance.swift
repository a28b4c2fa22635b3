internal import VaultSealing

/// What a verification looked at. It was all right, or the verification would have thrown.
public struct VerificationReport: Sendable {
  /// The state of the vault as it was verified.
  public let status: VaultStatus
  /// Values that were opened, of all granted groups.
  public let values: Int
  /// Earlier values that were opened.
  public let previousValues: Int
  /// Values whose outer seal is right and whose device layer was not opened for want of the device key.
  public let deviceValues: Int
}

extension Vault {
  /// Loads the file anew and opens everything that the credential grants: manifest, sections, entries, every value
  /// and every kept earlier value. What others hold the keys of is checked as far as it goes without keys.
  ///
  /// It cannot tell whether the whole file is an older copy: only a mark can, where there is one.
  /// - Throws: the class of the first deviation; ``VaultError/Code/tampered`` when a value does not open.
  public func verify() throws(VaultError) -> VerificationReport { try freshState().verify() }

  /// A load of its own, with the key of the slot that opened this handle.
  func freshState() throws(VaultError) -> VaultState {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let sealer = try VaultError.sealing { () throws(SealingError) in try Sealer(random: options.random) }
    return try MarkKeeper.checking(handle.mark) { () throws(VaultError) in
      try VaultState.load(path: handle.path, options: options, sealer: sealer) {
        (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer)
      }
    }
  }

  /// Folds the journal into a new snapshot: removed and replaced values are gone from the file afterwards.
  public func compact() throws(VaultError) {
    try rewrite { (state) throws(VaultError) in (try state.foldedFile(nil, group: nil), state.unlocked) }
  }
}

extension VaultState {
  /// Opens every value that is granted.
  func verify() throws(VaultError) -> VerificationReport {
    let reader = try ValueReader(random: options.random)
    var (values, previousValues, deviceValues) = (0, 0, 0)
    var total = 0
    for group in groups { total += try content(group.id).count }
    let progress = ProgressCounter(options, total: total)
    for group in groups {
      let content = try content(group.id)
      try content.forEachInOrder { (record) throws(VaultError) in
        if try opens(record, nil, content, reader) { values += 1 } else { deviceValues += 1 }
        try Extension.forEach(record.extensionField) { (item) throws(VaultError) in
          guard item.tag == Extension.RecordTag.previous else { return }
          if try opens(record, try PreviousValue(item.data), content, reader) {
            previousValues += 1
          } else {
            deviceValues += 1
          }
        }
        progress?.advance()
      }
    }
    return VerificationReport(
      status: try status(), values: values, previousValues: previousValues, deviceValues: deviceValues)
  }

  /// Whether a value opens to the end; `false` when only its device key is missing.
  private func opens(
    _ record: Record, _ previous: PreviousValue?, _ content: GroupContent, _ reader: ValueReader
  ) throws(VaultError) -> Bool {
    reader.take(
      record, previous: previous, at: try content.place(record.class, sealer), deviceKey: options.deviceKey)
    do throws(VaultError) { try reader.open(record.name) { _ in } } catch {
      guard error.code == .deviceKeyMissing else { throw error }
      return false
    }
    return true
  }
}
