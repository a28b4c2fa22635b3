internal import Synchronization
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
  /// It cannot tell whether the whole file is an older copy: nothing inside the file can.
  /// - Throws: the class of the first deviation; ``VaultError/Code/tampered`` when a value does not open.
  public func verify() throws(VaultError) -> VerificationReport {
    let state = try freshState()
    let reader = try ValueReader(random: options.random)
    var (values, previousValues, deviceValues) = (0, 0, 0)
    var total = 0
    for group in state.groups { total += try state.content(group.id).count }
    let progress = ProgressCounter(options, total: total)
    for group in state.groups {
      let content = try state.content(group.id)
      var failure: VaultError?
      content.forEachInOrder { record in
        guard failure == nil else { return }
        defer { progress?.advance() }
        do throws(VaultError) {
          if try opens(record, nil, content, reader) { values += 1 } else { deviceValues += 1 }
          try Extension.forEach(record.extensionField) { (item) throws(VaultError) in
            guard item.tag == Extension.RecordTag.previous else { return }
            if try opens(record, try PreviousValue(item.data), content, reader) {
              previousValues += 1
            } else {
              deviceValues += 1
            }
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
    }
    return VerificationReport(
      status: try state.status(), values: values, previousValues: previousValues, deviceValues: deviceValues)
  }

  /// Whether a value opens to the end; `false` when only its device key is missing.
  private func opens(
    _ record: Record, _ previous: PreviousValue?, _ content: GroupContent, _ reader: ValueReader
  ) throws(VaultError) -> Bool {
    reader.take(
      record, previous: previous, at: try content.place(record.class, reader.sealer), deviceKey: options.deviceKey)
    do throws(VaultError) { try reader.open(record.name) { _ in } } catch {
      guard error.code == .deviceKeyMissing else { throw error }
      return false
    }
    return true
  }

  /// Copies the vault to `path`, where nothing may be yet. The copy was verified with this handle's keys before it has
  /// a name, is 0600, and is durable when this returns. Others may go on writing: the copy is one consistent state.
  ///
  /// A backup opens with the credentials of now, also after they are changed or removed here.
  /// - Throws: ``VaultError/Code/alreadyExists``, ``VaultError/Code/insecurePermissions``, what verifying and writing
  ///   can throw.
  public func backUp(to path: String) throws(VaultError) {
    let state = try freshState()
    for group in state.groups { _ = try state.content(group.id) }
    guard let image = state.image else { throw VaultError(.locked, "the file was not loaded") }
    let destination = VaultPath(path, policy: options.pathPolicy)
    guard try destination.status() == nil else { throw Replacement.exists }
    try destination.makeDirectory()
    try destination.judgeDirectory()
    // A torn tail is nobody's data: the copy ends with the last whole entry.
    let bytes = Array(image.bytes[..<state.tail]) + [UInt8](repeating: 0, count: options.reserveBytes)
    FileLock.release(try Replacement(path: destination).create(bytes, timeout: options.lockTimeout))
  }

  /// A load of its own, with the key of the slot that opened this handle.
  private func freshState() throws(VaultError) -> VaultState {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let sealer = try VaultError.sealing { () throws(SealingError) in try Sealer(random: options.random) }
    return try VaultState.load(path: handle.path, options: options, sealer: sealer) {
      (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer)
    }
  }

  /// Folds the journal into a new snapshot: removed and replaced values are gone from the file afterwards.
  public func compact() throws(VaultError) {
    if case .failed(let error) = queue.perform(.fold) { throw error }
  }
}
