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

  /// Opens every value of a group and every earlier one that is kept, as the vault is loaded.
  ///
  /// - Parameter body: gets the error of a value that does not open.
  package func openValues(
    in group: AccessGroup, _ body: (VaultError?) throws(VaultError) -> Void
  ) throws(VaultError) {
    let reader = try ValueOpener(random: options.random)
    try handle.withCurrent { (_, state) throws(VaultError) in
      try state.openValues(of: group.id, reader) { (_, error) throws(VaultError) in try body(error) }
    }
  }

  /// A load of its own, with the key of the slot that opened this handle.
  func freshState() throws(VaultError) -> VaultState {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let sealer = try Sealer(random: options.random)
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
    let reader = try ValueOpener(random: options.random)
    var (values, previousValues, deviceValues) = (0, 0, 0)
    var total = 0
    for group in groups { total += try content(group.id).count }
    let progress = ProgressCounter(options, total: total)
    for group in groups {
      try openValues(of: group.id, reader) { (isPrevious, error) throws(VaultError) in
        if let error {
          guard error.code == .deviceKeyMissing else { throw error }
          deviceValues += 1
        } else if isPrevious {
          previousValues += 1
        } else {
          values += 1
        }
        if !isPrevious { progress?.advance() }
      }
    }
    return VerificationReport(
      status: try status(), values: values, previousValues: previousValues, deviceValues: deviceValues)
  }

  /// Opens each value of a group and, behind it, each earlier one that its record keeps: once, in one pass.
  ///
  /// - Parameter body: gets the error of a value that does not open.
  func openValues(
    of group: Vault.Identifier, _ reader: ValueOpener,
    _ body: (_ isPrevious: Bool, VaultError?) throws(VaultError) -> Void
  ) throws(VaultError) {
    let content = try content(group)
    try content.forEachInOrder { (record) throws(VaultError) in
      let place = try content.place(record.accessibility, sealer)
      func open(_ previous: PreviousValue?) throws(VaultError) {
        reader.take(record, previous: previous, at: place, deviceKey: options.deviceKey)
        var failure: VaultError?
        do throws(VaultError) { try reader.open(record.name) { _ in } } catch { failure = error }
        try body(previous != nil, failure)
      }
      try open(nil)
      try Extension.forEach(record.extensionField) { (item) throws(VaultError) in
        if item.tag == Extension.RecordTag.previous { try open(try PreviousValue(item.data)) }
      }
    }
  }
}
