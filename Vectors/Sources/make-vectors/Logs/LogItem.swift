/// The item of a section's extension that switches the group's log on, and keeps its earlier keys (annex F.1).
struct LogItem {
  static let tag: UInt16 = 1024

  struct EarlierKey {
    let epoch: UInt32
    let sealed: Bytes
  }

  var policy: UInt8 = 1
  var limit: UInt32 = 0
  var keep: UInt32 = 0
  var earlier: [EarlierKey] = []

  /// The policy as readers and writers treat it.
  static func effective(_ policy: UInt8) -> UInt8 { policy <= 2 ? policy : 1 }

  init(policy: UInt8 = 1) { self.policy = policy }

  /// The item of an extension field, if there is one: of a section of this epoch, or of a manifest.
  ///
  /// - Parameter isLogged: whether the header has the flag.
  init?(extensionField: Bytes, epoch: UInt32?, isLogged: Bool) throws {
    let items = try require(Items.read(extensionField), "an extension")
    let own = items.filter { $0.tag == Self.tag }
    guard let data = own.first?.data else { return nil }
    try require(isLogged, "a log item without the flag")
    try require(own.count == 1, "two log items")
    var cursor = Cursor(data)
    (policy, limit, keep) = (try cursor.integer(), try cursor.integer(), try cursor.integer())
    var last: UInt32 = 0
    while let epoch, cursor.remaining > 0 {
      let pair = EarlierKey(epoch: try cursor.integer(), sealed: try cursor.take(Sealing.overhead + 32))
      try require(pair.epoch > last && pair.epoch < epoch, "the epochs of a log item")
      last = pair.epoch
      earlier.append(pair)
    }
    try cursor.finish()
  }

  var bytes: Bytes {
    [policy] + .integer(limit) + .integer(keep) + earlier.flatMap { .integer($0.epoch) + $0.sealed }
  }

  /// LK = D(32, GK, "log-key").
  static func key(groupKey: Bytes) -> Bytes { Sealing.derive(32, groupKey, "log-key") }

  static func context(vaultID: Bytes, group: Bytes, epoch: UInt32) -> [Bytes] {
    [Bytes("log-earlier-key"), vaultID, group, .integer(epoch)]
  }

  /// The keys that open from the newest back.
  func keys(vaultID: Bytes, group: Bytes, epoch: UInt32, groupKey: Bytes) -> [UInt32: Bytes] {
    var newer = Self.key(groupKey: groupKey)
    var keys = [epoch: newer]
    for pair in earlier.reversed() {
      let context = Self.context(vaultID: vaultID, group: group, epoch: pair.epoch)
      guard let key = Sealing.open(pair.sealed, key: newer, context: context), key.count == 32 else { break }
      keys[pair.epoch] = key
      newer = key
    }
    return keys
  }
}
