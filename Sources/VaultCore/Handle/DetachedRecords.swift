internal import VaultSealing

/// Sealed records of one access group with the keys of their values, in a separate buffer, so that they are independent
/// of the state they were loaded in. Accessed only under the handle's lock.
final class DetachedRecords {
  private var index: RecordIndex
  /// The cipher of each class, by its number; `nil` for classes without a record.
  private let ciphers: [ValueCipher?]
  /// The bytes of names and sealed values.
  private let buffer: WipedBuffer

  /// Copies the records that `isWanted` selects.
  /// - Returns: `nil` if there is none.
  init?(_ content: GroupContent, _ state: VaultState, where isWanted: (Record) -> Bool) throws(VaultError) {
    var wanted: [Record] = []
    var ciphers = [ValueCipher?](repeating: nil, count: Vault.Accessibility.allCases.count)
    try content.forEachInOrder { (record) throws(VaultError) in
      guard isWanted(record) else { return }
      wanted.append(record)
      let number = Int(record.accessibility.rawValue)
      if ciphers[number] == nil { ciphers[number] = try content.cipher(record.accessibility, state.sealer) }
    }
    guard !wanted.isEmpty else { return nil }
    let buffer = WipedBuffer(count: wanted.reduce(0) { $0 + Int($1.count) })
    var end = 0
    for record in wanted {
      buffer.copy(record.bytes, at: end)
      end += Int(record.count)
    }
    // Parsed again in the new buffer, because a record is a view of its bytes.
    var index = RecordIndex(capacity: wanted.count)
    var reader = ByteReader(buffer.span)
    while reader.remaining > 0 {
      index.appendLast(
        try Record(&reader, generation: content.generation, after: nil, limits: state.options.limits))
    }
    self.ciphers = ciphers
    self.buffer = buffer
    self.index = index
  }

  func find(_ name: borrowing RecordName) -> (record: Record, cipher: ValueCipher)? {
    guard let record = index.find(name), let cipher = ciphers[Int(record.accessibility.rawValue)] else { return nil }
    return (record, cipher)
  }

  func forEachInOrder<E: Error>(_ body: (Record) throws(E) -> Void) throws(E) {
    try index.forEachInOrder(body)
  }
}
