internal import CVaultSodium
internal import DurableFiles

/// The cost of deriving a key from a passphrase, and so of one guess: passes over an amount of memory, for Argon2id 1.3
/// with one lane.
public struct PassphraseCost: Sendable, Hashable {
  /// The number of passes over the memory.
  public let passes: UInt32
  /// The amount of memory, in KiB.
  public let kibibytes: UInt32

  /// Creates a cost. Its bounds are checked when it is used; see ``isAcceptable``.
  public init(passes: UInt32, kibibytes: UInt32) {
    self.passes = passes
    self.kibibytes = kibibytes
  }

  /// The minimum for new slots: 3 passes over 64 MiB (`Docs/Format.md` 5.5; the low-memory recommendation of RFC 9106).
  public static let minimum = PassphraseCost(passes: 3, kibibytes: 64 * 1024)
  /// The minimum that a reader accepts. Only for tests: it does not protect a passphrase.
  public static let throwaway = PassphraseCost(passes: 1, kibibytes: 8 * 1024)

  /// The memory that a reader accepts, in KiB: 8 MiB to 1 GiB (`Docs/Format.md` 3.10).
  public static let acceptedKibibytes: ClosedRange<UInt32> = 8 * 1024...1024 * 1024
  /// The maximum ``work`` that a reader accepts for one slot (`Docs/Format.md` 3.10).
  public static let acceptedWork: UInt64 = 4 * 1024 * 1024
  /// The maximum ``work`` that a reader accepts for all slots of a file together (`Docs/Format.md` 3.10).
  public static let acceptedTotalWork: UInt64 = 8 * 1024 * 1024

  /// The product of passes and KiB.
  public var work: UInt64 { UInt64(passes) * UInt64(kibibytes) }

  /// Whether the cost is within the bounds that a reader accepts from a file that is not verified yet.
  public var isAcceptable: Bool {
    passes > 0 && Self.acceptedKibibytes.contains(kibibytes) && work <= Self.acceptedWork
  }

  /// Measures this machine and returns the highest cost that takes less than `limit`: 3 passes over 64 MiB, doubled up
  /// to 256 MiB or a quarter of `availableKibibytes`, and at least ``minimum``. Blocks for one derivation.
  /// - Throws: ``VaultError/Code/kdfMemory``; ``VaultError/Code/io`` if the system provides no guarded memory.
  public static func calibrated(
    within limit: Duration = .milliseconds(500), availableKibibytes: UInt64 = .max
  ) throws(VaultError) -> PassphraseCost {
    var cost = minimum
    let passphrase = try SecretBytes(count: 16)
    let start = ContinuousClock.now
    _ = try passphrase.withSpan { span throws(VaultError) in
      try stretch(span, salt: [UInt8](repeating: 0, count: 16), cost: cost)
    }
    // Time is proportional to memory, so one measurement is sufficient.
    var duration = ContinuousClock.now - start
    while duration * 2 < limit, cost.kibibytes < 256 * 1024,
      UInt64(cost.kibibytes) * 2 <= availableKibibytes / 4
    {
      cost = PassphraseCost(passes: cost.passes, kibibytes: cost.kibibytes * 2)
      duration = duration * 2
    }
    return cost
  }

  /// The asynchronous form of `calibrated(within:availableKibibytes:)`. Cancelling the task does not stop it.
  public static func calibrated(
    within limit: Duration = .milliseconds(500), availableKibibytes: UInt64 = .max
  ) async throws(VaultError) -> PassphraseCost {
    try await HelperPool.deriving.run { () throws(VaultError) in
      try calibrated(within: limit, availableKibibytes: availableKibibytes)
    }
  }

  /// Derives a 32-byte root key from a passphrase: `argon2id(p, s, t, m)` of `Docs/Format.md` section 2
  /// (`crypto_pwhash`).
  ///
  /// - Parameters:
  ///   - passphrase: 1 to 4096 bytes, which are used unchanged.
  ///   - salt: 16 bytes.
  /// - Throws: ``VaultError/Code/invalidPassphrase``, ``VaultError/Code/kdfRefused``,
  ///   ``VaultError/Code/kdfMemory``.
  public static func stretch(
    _ passphrase: RawSpan, salt: [UInt8], cost: PassphraseCost
  ) throws(VaultError) -> SealingKey {
    precondition(salt.count == Int(crypto_pwhash_SALTBYTES), "a salt has 16 bytes")
    guard (1...4096).contains(passphrase.byteCount) else {
      throw VaultError(.invalidPassphrase, "a passphrase has 1 to 4096 bytes")
    }
    guard cost.isAcceptable else {
      throw VaultError(.kdfRefused, "the Argon2id cost of \(cost) is outside the accepted bounds")
    }
    let root = try unsafe SealingKey(fillingIf: { out in
      unsafe passphrase.withUnsafeBytes { passphrase in
        defer { wipeStack(16 << 10) }
        return unsafe crypto_pwhash(
          out.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(out.count),
          passphrase.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(passphrase.count), salt,
          UInt64(cost.passes), Int(cost.kibibytes) * 1024, crypto_pwhash_ALG_ARGON2ID13) == 0
      }
    })
    guard let root else {
      throw VaultError(.kdfMemory, "Argon2id could not allocate \(cost.kibibytes / 1024) MiB of memory")
    }
    return root
  }
}

extension PassphraseCost: CustomStringConvertible {
  public var description: String { "\(passes) \(passes == 1 ? "pass" : "passes") over \(kibibytes / 1024) MiB" }
}
