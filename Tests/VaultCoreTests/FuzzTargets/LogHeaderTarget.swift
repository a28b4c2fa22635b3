@testable import VaultCore
@testable import VaultSealing

/// The header of a log: 48 bytes, and the state, which is sealed here so that its numbers are reached (`Docs/Format.md`
/// F.3).
struct LogHeaderTarget: FuzzTarget {
  private let keys: AuditKeys
  private let group: FuzzGroup

  private static let epoch: UInt32 = 3
  private static let id = [UInt8](repeating: 1, count: Vault.Identifier.count)

  init() throws {
    group = try FuzzGroup()
    keys = try AuditKeys(
      vault: .zero, group: Vault.Identifier(Self.id), epoch: Self.epoch, key: group.key, nil, group.sealer)
  }

  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    guard bytes.count == 48 + 136 else {
      let found = try AuditHeader.open(bytes.span.bytes, keys, group.sealer)
      guard case .failure = found else { throw Violation(description: "a header without a seal") }
      return
    }
    group.sealer.bind(to: .logState(vault: keys.vaultID, group: keys.groupID))
    let state = Array(bytes[48...])
    let whole = Array(bytes[..<48]) + group.sealer.seal(state.span.bytes, with: try keys.presentKey(group.sealer))
    let found = try AuditHeader.open(whole.span.bytes, keys, group.sealer)
    switch (found, Self.refusal(bytes)) {
    case (.success(let header), nil):
      try demand(header.file == ReferenceReader.number(state[..<8]), "the file")
      try demand(header.count == ReferenceReader.number(state[48..<56]), "the count")
      try demand(UInt64(header.end) == ReferenceReader.number(state[56..<64]), "the end")
    case (.failure(let refusal), let expected?):
      try demand(refusal.code == expected, "refused as \(refusal.code), expected \(expected)")
    case (.success, let expected?): throw Violation(description: "accepted, expected \(expected)")
    case (.failure(let refusal), nil): throw Violation(description: "refused as \(refusal.code), which is right")
    }
  }

  /// What is wrong with a header whose state is sealed with the key of the group's epoch.
  private static func refusal(_ bytes: [UInt8]) -> AuditFinding.Code? {
    let (version, epoch) = (ReferenceReader.number(bytes[8..<10]), ReferenceReader.number(bytes[12..<16]))
    let isOurs = Array(bytes[16..<48]) == [UInt8](repeating: 0, count: 16) + id
    guard Array(bytes[..<8]) == AuditHeader.magic, Array(bytes[10..<12]) == [0, 0], isOurs, version != 0,
      epoch >= 1, epoch < 1 << 31
    else { return .badHeader }
    // The state opens, so neither a later version nor a later key has sealed it.
    guard version == 1, epoch <= UInt64(Self.epoch) else { return .badHeader }
    guard epoch == UInt64(Self.epoch) else { return .lostKey }
    let state = Array(bytes[48...])
    func number(_ offset: Int) -> UInt64 { ReferenceReader.number(state[offset..<offset + 8]) }
    let (file, first, count, end, synced) = (number(0), number(8), number(48), number(56), number(128))
    let (before, last) = (Array(state[16..<48]), Array(state[64..<96]))
    let isEmpty = before.allSatisfy { $0 == 0 }
    guard (1..<(1 << 31)).contains(file), (1..<(1 << 50)).contains(first), isEmpty == (first == 1),
      count >= first - 1, count < 1 << 50, (256...(1 << 30)).contains(end), end.isMultiple(of: 8), synced <= count
    else { return .badHeader }
    if count == first - 1, last != before || end != 256 { return .badHeader }
    return nil
  }
}
