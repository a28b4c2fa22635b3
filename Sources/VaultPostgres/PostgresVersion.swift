#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  /// A version of a vault, as one load of it has it. Each load gets an object of its own, which says how far that load
  /// has read: the storage keeps what a live one has not read yet.
  final class PostgresVersion: StorageVersion {
    /// ``VaultRow/version``.
    let number: Int
    private let reachedOffset: Atomic<Int>
    private let isLost = Atomic(false)
    /// The thread that has found last that another version replaces this one, until it loads that; zero if none has.
    private let finder = Atomic<UInt>(0)

    init(_ number: Int, reached: Int) {
      self.number = number
      reachedOffset = Atomic(reached)
    }

    var reached: Int { reachedOffset.load(ordering: .relaxed) }

    var mayBeLost: Bool { isLost.load(ordering: .relaxed) }

    func lose() { isLost.store(true, ordering: .relaxed) }

    /// Notes that this thread has found another version.
    func noteReplacement() { finder.store(pthread_self(), ordering: .relaxed) }

    /// Whether this thread has found another version, and has not loaded it yet. Then it does so now.
    func takeReplacement() -> Bool {
      finder.compareExchange(expected: pthread_self(), desired: 0, ordering: .relaxed).exchanged
    }

    func reach(_ offset: Int) { reachedOffset.max(offset, ordering: .relaxed) }
  }
#endif
