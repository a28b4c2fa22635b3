internal import VaultCore
internal import VaultSealing

/// A fixed number of elements in guarded memory, all zero at first.
final class GuardedArray<Element: BitwiseCopyable> {
  private let bytes: SecretBytes
  /// The elements. Guarded memory does not move; valid while the object is alive.
  let base: UnsafeMutablePointer<Element>
  let count: Int

  init(count: Int) throws(VaultError) {
    // The memory ends where a page does: a multiple of 16 bytes begins at one, too.
    let size = (max(count, 1) * MemoryLayout<Element>.stride + 15) & ~15
    var bytes = try SecretBytes(count: size)
    base = bytes.withUnsafeMutableBytes { $0.baseAddress!.bindMemory(to: Element.self, capacity: max(count, 1)) }
    self.bytes = bytes
    self.count = count
  }

  /// Moves elements to the start.
  func moveToStart(_ range: Range<Int>) {
    if range.lowerBound > 0 { base.update(from: base + range.lowerBound, count: range.count) }
  }
}
