internal import Synchronization

/// Something that exactly one of several may have: the first to ask.
final class Claim: Sendable {
  private let isTaken = Atomic<Bool>(false)

  /// Whether the caller is the first.
  func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}
