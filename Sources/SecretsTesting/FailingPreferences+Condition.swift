internal import DurableFiles
internal import VaultSealing

extension FailingPreferences {
  /// What the calls of a ``FailingPreferences`` do.
  ///
  /// The errors of ``locked``, ``damaged``, ``full`` and ``readOnly`` have the type, the code and the error number of
  /// those that a vault throws in the same condition.
  public struct Condition: Sendable {
    enum Call: Sendable { case read, write }

    private let reading: (any Error)?
    private let writing: (any Error)?
    let slowCalls: Set<Call>

    /// Creates a condition with errors of your own; `nil` for calls that succeed.
    ///
    /// - Parameters:
    ///   - reading: the error of every call that reads.
    ///   - writing: the error of every call that writes.
    public init(reading: (any Error)? = nil, writing: (any Error)? = nil) {
      self.init(reading: reading, writing: writing, slowCalls: [])
    }

    private init(reading: (any Error)? = nil, writing: (any Error)? = nil, slowCalls: Set<Call>) {
      self.reading = reading
      self.writing = writing
      self.slowCalls = slowCalls
    }

    func error(of call: Call) -> (any Error)? {
      switch call {
      case .read: reading
      case .write: writing
      }
    }

    /// Every call succeeds. The condition of a new store.
    public static let working = Condition()

    /// Every call throws `error`.
    public static func failing(with error: any Error = Failure()) -> Condition {
      Condition(reading: error, writing: error)
    }

    /// Every call throws ``VaultError/Code/locked``, as with ``ThrowawayVault/lock()``. In a real vault, values of the
    /// class ``Vault/Accessibility/afterFirstUnlock`` would still be readable.
    public static let locked = failing(with: VaultError(.locked, "the test locked this store"))

    /// Every call throws ``VaultError/Code/damaged``, as with ``ThrowawayVault/damage()``.
    public static let damaged = failing(with: VaultError(.damaged, "the test damaged this store"))

    /// The disk is full: reads succeed, and writes throw ``VaultError/Code/io`` with `ENOSPC`. A real vault still has
    /// room for small values in the blocks that it has reserved.
    public static let full = Condition(
      writing: VaultError(.io, "the test filled the disk of this store", errno: ENOSPC))

    /// The file system is mounted read-only: reads succeed, and writes throw ``VaultError/Code/readOnly`` with `EROFS`.
    public static let readOnly = Condition(
      writing: VaultError(.readOnly, "the test made this store read-only", errno: EROFS))

    /// Every call waits until the store gets a different condition, or the task of the call is cancelled. An
    /// asynchronous write suspends. Any other call blocks its thread and needs a separate one: start it with
    /// ``BlockingWork/run(_:)``, because calls that block the threads of Swift's pool also stop the test.
    public static let slow = Condition(slowCalls: [.read, .write])

    /// As ``slow``, but reads succeed at once.
    public static let slowWrites = Condition(slowCalls: [.write])
  }
}
