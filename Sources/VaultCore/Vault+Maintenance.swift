internal import DurableFiles
internal import VaultSealing

/// What a verification has checked. All of it is valid; otherwise the verification throws.
public struct VerificationReport: Sendable {
  /// The state of the verified vault.
  public let status: VaultStatus
  /// The number of values that were opened, in all granted groups.
  public let values: Int
  /// The number of earlier values that were opened.
  public let previousValues: Int
  /// The number of values whose outer seal is valid and whose device layer was not opened, because there is no device
  /// key.
  public let deviceValues: Int
}

extension Vault {
  /// Loads the file again and opens everything that the credential grants: manifest, sections, entries, every value and
  /// every earlier value. Groups of other holders are checked as far as possible without their keys.
  ///
  /// An older copy of the whole file also verifies: only a ``RollbackMark`` detects it.
  /// - Throws: the code of the first fault that is found; ``VaultError/Code/tampered`` if a value does not open.
  public func verify() throws(VaultError) -> VerificationReport { try freshState().verify() }

  /// The asynchronous form of `verify()`. Cancelling the task does not stop it.
  public func verify() async throws(VaultError) -> VerificationReport {
    try await waiting.run { () throws(VaultError) in try verify() }
  }

  /// Loads the file again and returns it as a separate handle, opened with the key that opened this one.
  ///
  /// The new handle shows what is in the file, whatever this handle has in memory. Use it to check what was written.
  /// - Throws: as ``open(at:credential:options:)``, and ``VaultError/Code/locked`` if this handle is locked.
  public func reopened() throws(VaultError) -> Vault { try Vault(freshState()) }

  /// The asynchronous form of `reopened()`. Cancelling the task does not stop it.
  public func reopened() async throws(VaultError) -> Vault {
    try await waiting.run { () throws(VaultError) in try reopened() }
  }

  /// Opens every value and every earlier value of a group.
  ///
  /// - Parameter body: gets the error of a value that does not open.
  package func openValues(
    in group: AccessGroup, _ body: (VaultError?) throws(VaultError) -> Void
  ) throws(VaultError) {
    let reader = try ValueOpener(options)
    try handle.withCurrent { (_, state) throws(VaultError) in
      try state.openValues(of: group.id, reader) { (_, error) throws(VaultError) in try body(error) }
    }
  }

  /// Loads the file again into a separate state, with the key of the slot that opened this handle.
  func freshState() throws(VaultError) -> VaultState {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let sealer = try Sealer(random: options.random)
    return try VaultState.load(handle.storage, options: options, sealer: sealer, mark: handle.mark) {
      (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer)
    }
  }

  /// Folds the journal into a new snapshot, so that the file contains no removed or replaced values but those that
  /// ``Vault/Keeping`` keeps: rotate a group with `droppingHistory` to drop these, too. Durable when the method
  /// returns.
  /// - Throws: ``VaultError/Code/readOnly``, ``VaultError/Code/io`` or ``VaultError/Code/lockTimeout`` with the vault
  ///   unchanged; ``VaultError/Code/durabilityUnknown``.
  public func compact() throws(VaultError) {
    try rewrite { (state) throws(VaultError) in
      VaultWriter.FullWrite(file: try state.foldedFile(nil, group: nil), opening: state.unlocked)
    }
  }

  /// The asynchronous form of `compact()`. Cancelling the task does not stop it.
  public func compact() async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try compact() }
  }
}

extension VaultState {
  /// Opens every granted value.
  func verify() throws(VaultError) -> VerificationReport {
    let reader = try ValueOpener(options)
    var (values, previousValues, deviceValues) = (0, 0, 0)
    var total = 0
    for group in groups { total += try content(group.id).recordCount }
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

  /// Opens each value of a group, followed by the earlier values of its record, in one pass.
  ///
  /// - Parameter body: gets the error of a value that does not open.
  func openValues(
    of group: Vault.Identifier, _ reader: ValueOpener,
    _ body: (_ isPrevious: Bool, VaultError?) throws(VaultError) -> Void
  ) throws(VaultError) {
    let content = try content(group)
    try content.forEachStored { (record) throws(VaultError) in
      let cipher = try content.cipher(record.accessibility, sealer)
      func open(_ taken: ValueOpener.CopiedValue, isPrevious: Bool) throws(VaultError) {
        var failure: VaultError?
        do throws(VaultError) { try taken.open(record.name) { _ in } } catch { failure = error }
        try body(isPrevious, failure)
      }
      if !record.isRemoved {
        try open(ValueOpener.CopiedValue(record, with: cipher, by: reader), isPrevious: false)
      } else if try !content.opensRemoved(record, sealer) {
        try body(true, .tampered("the empty value of a removed record does not verify"))
      }
      var fields = Extension.Items(record.extensionField)
      while let item = try fields.next() {
        guard item.tag == Extension.RecordTag.previous else { continue }
        try open(ValueOpener.CopiedValue(try PreviousValue(item.data), with: cipher, by: reader), isPrevious: true)
      }
    }
  }
}
