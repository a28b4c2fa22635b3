#if PostgreSQL
  internal import Synchronization
  internal import VaultCore

  /// A version of a vault, as one load of it has it. Each load gets an object of its own, which says how far that load
  /// has read: the storage keeps what a live one has not read yet.
  final class PostgresVersion: StorageVersion {
    /// ``VaultRow/version``.
    let number: Int
    private let reachedOffset: Atomic<Int>
    private let isLost = Atomic(false)

    init(_ number: Int, reached: Int) {
      self.number = number
      reachedOffset = Atomic(reached)
    }

    var reached: Int { reachedOffset.load(ordering: .relaxed) }

    var mayBeLost: Bool { isLost.load(ordering: .relaxed) }

    func lose() { isLost.store(true, ordering: .relaxed) }

    func reach(_ offset: Int) { reachedOffset.max(offset, ordering: .relaxed) }
  }
#endif
