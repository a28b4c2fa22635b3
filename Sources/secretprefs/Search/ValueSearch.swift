internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Finds many patterns at once, in a time that depends on the length of the searched text alone: the automaton of Aho
/// and Corasick, without the states of short beginnings.
///
/// A state is a beginning of a pattern with at least ``window`` bytes, and a node of the tree of all patterns. While no
/// such beginning is there, a filter with a bit for each beginning of exactly ``window`` bytes rejects nearly every
/// place. All that is derived from values is in guarded memory.
final class ValueSearch {
  /// The length of the shortest beginning that is a state.
  static let window = 6

  /// Where the search is in a text.
  struct Position {
    /// The longest beginning of a pattern that the text ends with; 0 if there is none of ``window`` bytes.
    fileprivate(set) var node: UInt32 = 0
    /// The last eight bytes. No pattern has a NUL, so that a text may begin with zeros.
    fileprivate(set) var recent: UInt64 = 0
  }

  private let tree: PatternTree
  private let patterns: [ValuePatterns.Pattern]
  /// The length of the longest pattern.
  let longest: Int

  init(_ patterns: ValuePatterns) throws(VaultError) {
    tree = try PatternTree(patterns)
    self.patterns = tree.patterns
    longest = self.patterns.map(\.bytes.count).max() ?? 0
  }

  /// Searches the next bytes of a text. Calls `body` with each pattern that ends in them, and the index after its end.
  func advance(
    _ position: inout Position, over text: UnsafePointer<UInt8>, _ indices: Range<Int>,
    _ body: (ValuePatterns.Pattern, Int) -> Void
  ) {
    guard !patterns.isEmpty else { return }
    let (tree, patterns) = (tree, patterns)
    let (filter, shift) = (UnsafePointer(tree.filter.base), tree.shift)
    var (node, recent, index) = (position.node, position.recent, indices.lowerBound)
    while index < indices.upperBound {
      if node == 0 {
        var isCandidate = false
        while index < indices.upperBound, !isCandidate {
          recent = recent &<< 8 | UInt64(text[index])
          index &+= 1
          isCandidate = PatternTree.isSet(filter, PatternTree.place(recent, shift))
        }
        guard isCandidate else { break }
        node = tree.node(endingWith: recent)
      } else {
        let byte = text[index]
        recent = recent &<< 8 | UInt64(byte)
        index &+= 1
        node = tree.next(node, byte)
        if node == 0 { node = tree.node(endingWith: recent) }
      }
      tree.forEachPattern(node) { body(patterns[$0], index) }
    }
    position.node = node
    position.recent = recent
  }

  /// The number of bytes at the end of a text that are the beginning of a pattern.
  func waiting(_ position: Position) -> Int {
    let node = tree.continued(position.node)
    if node != 0 { return tree.depth(of: node) }
    return (1..<Self.window).last { tree.hasBeginning(position.recent, length: $0) } ?? 0
  }
}
