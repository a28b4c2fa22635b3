internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// Delivers a log to where those of all machines are collected.
///
/// What was delivered never changes in a log: events are appended, and bytes that are no event are not delivered. So a
/// log whose bytes differ from what was delivered is another one, as after a power failure, or after its folder was
/// removed or copied. It gets a new id, and all of it is delivered again; what was delivered under the old id stays.
extension AuditLog {
  /// A file of the log as of one moment.
  private struct Part {
    let number: UInt64
    let file: Descriptor
    let header: [UInt8]
    /// The offset after the last event that the header counts.
    let end: Int

    init?(_ file: Descriptor, header bytes: [UInt8], size: Int, _ keys: AuditKeys, _ sealer: Sealer) throws(VaultError)
    {
      guard case .success(let header) = try AuditHeader.open(bytes.bytes, keys, sealer), header.end <= size else {
        return nil
      }
      number = header.file
      end = header.end
      self.file = file
      self.header = bytes
    }
  }

  /// More programs of a machine than deliver its log at the same moment.
  private static let mostDeliveries = 10

  /// Delivers the events that were not delivered before.
  func deliver(_ keys: AuditKeys, to collection: any AuditLogCollection) throws(VaultError) {
    let sealer = try Sealer(random: options.random)
    var refused: String?
    for _ in 0..<Self.mostDeliveries {
      guard let id = try deliveryID(replacing: refused) else { return }
      let log = "\(keys.groupID)/\(id)"
      // Asked before the log is read, because other programs deliver it concurrently.
      let last = try collection.newestFile(of: log)
      guard let parts = try parts(keys, sealer) else {
        isUndelivered = true  // the group was rotated: it is delivered once the vault has the later key
        return
      }
      guard try last.map({ (last) throws(VaultError) in try isContinued(last, by: parts) }) ?? true else {
        refused = id
        continue
      }
      do throws(VaultError) {
        for part in parts where part.number >= last?.number ?? 0 {
          let known = part.number == last?.number ? last : nil
          let start = known?.end ?? AuditHeader.byteCount
          guard start < part.end else { continue }
          let image = try FileImage(part.file, start..<part.end, limit: AuditHeader.fileBytes)
          guard image.count == part.end - start else { continue }
          try collection.add(
            image.span.copy, header: part.header, to: CollectedAuditFile(log: log, number: part.number, end: start))
        }
        return
      } catch {
        guard error.code == .conflict else { throw error }
      }
    }
    throw VaultError(.conflict, "the log cannot be delivered: other bytes are collected in its place")
  }

  /// The files of the log, the oldest first; `nil` if the current one is sealed with a later key.
  private func parts(_ keys: AuditKeys, _ sealer: Sealer) throws(VaultError) -> [Part]? {
    let reading = try forReading(keys, sealer)
    return try concerningLog { () throws(VaultError) in
      if let current = reading.current,
        case .failure(let refusal) = try AuditHeader.open(current.header.bytes, keys, sealer),
        refusal.code == .laterKey
      {
        return nil
      }
      var parts: [UInt64: Part] = [:]
      for old in reading.handedOver {
        guard let open = try files.readable(old) else { continue }
        let image = try FileImage(open.descriptor, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
        let size = Int(try open.descriptor.status().st_size)
        if let part = try Part(open.descriptor, header: image.span.copy, size: size, keys, sealer) {
          parts[part.number] = part
        }
      }
      // In place of a handed-over file that is still the current one, too.
      if let current = reading.current,
        let part = try Part(current.file.descriptor, header: current.header, size: current.size, keys, sealer)
      {
        parts[part.number] = part
      }
      return parts.values.sorted { $0.number < $1.number }
    }
  }

  /// Whether the log continues what was delivered last. A file that no longer exists was handed over and then moved
  /// away, or removed by age.
  private func isContinued(_ last: CollectedAuditFile, by parts: [Part]) throws(VaultError) -> Bool {
    guard let part = parts.first(where: { $0.number == last.number }) else {
      return parts.last.map { $0.number > last.number } ?? true
    }
    guard last.end >= AuditHeader.byteCount, part.end >= last.end else { return false }
    let start = max(AuditHeader.byteCount, last.end - CollectedAuditFile.tailCount)
    let image = try FileImage(part.file, start..<last.end, limit: AuditHeader.fileBytes)
    return image.span.copy.suffix(last.tail.count).elementsEqual(last.tail)
  }

  /// The id under which the log is delivered, in a file beside it; `nil` if there is no log.
  ///
  /// - Parameter refused: an id that belongs to a different log, and is replaced.
  private func deliveryID(replacing refused: String?) throws(VaultError) -> String? {
    try concerningLog { () throws(VaultError) in
      if let id = try files.deliveryID(), id != refused { return id }
      return try state.withLock { (state) throws(VaultError) -> String? in
        guard let file = try lockedFile(&state, until: Deadline(after: options.lockTimeout)) else { return nil }
        defer { file.descriptor.unlock() }
        if let id = try files.deliveryID(), id != refused { return id }
        let fresh = Vault.Identifier(options.random.bytes(Vault.Identifier.count)).description
        try files.setDeliveryID(fresh)
        return fresh
      }
    }
  }
}
