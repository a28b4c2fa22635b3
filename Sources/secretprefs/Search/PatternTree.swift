internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The nodes of ``ValueSearch``: the beginnings of patterns with at least ``ValueSearch/window`` bytes, numbered from 1
/// in the patterns' order, so that the next node of a pattern mostly has the next number.
final class PatternTree {
  /// Consecutive nodes of one pattern.
  private struct Run {
    let first: UInt32
    /// The length of the first node's beginning.
    let depth: Int
    let pattern: Int
    /// The node before the first; 0 if that is too short to be one.
    let parent: UInt32
  }

  private static let window = ValueSearch.window
  private static let windowMask: UInt64 = 1 << UInt64(8 * window) - 1

  private struct Node: BitwiseCopyable {
    /// The longest shorter node that it ends with.
    var shorter: UInt32 = 0
    /// The number of the longest pattern that it ends with, from 1; 0 if it ends with none.
    var pattern: UInt32 = 0
    /// Its last byte.
    var label: UInt8 = 0
    /// Whether the node with the next number follows this one.
    var hasNext = false
    /// Whether other nodes follow, too.
    var hasBranches = false
  }

  /// Sorted by their bytes.
  let patterns: [ValuePatterns.Pattern]
  private var runs: [Run] = []
  private let nodeArray: GuardedArray<Node>
  /// Those of ``nodeArray``. A pointer, because the search reads some for each byte.
  private let nodes: UnsafeMutablePointer<Node>
  /// The nodes that follow one with branches: `node << 8 | byte`, sorted, and the node.
  private let branches: GuardedArray<UInt64>
  private var branchNodes: [UInt32] = []
  /// For each pattern, the number of the next one that a text ends with, too: an equal one, or the longest shorter one.
  private let nextPatterns: GuardedArray<UInt32>
  /// The different beginnings of ``ValueSearch/window`` bytes as big-endian numbers, sorted, and their nodes.
  private let heads: GuardedArray<UInt64>
  private var headNodes: [UInt32] = []
  let filter: GuardedArray<UInt8>
  let shift: UInt64

  init(_ source: ValuePatterns) throws(VaultError) {
    let sorted = source.buffer.withUnsafeBytes { Self.sorted(source.all, $0) }
    patterns = sorted
    let outline = source.buffer.withUnsafeBytes { Self.outline(sorted, $0) }
    runs = outline.runs
    nodeArray = try GuardedArray(count: Int(outline.count))
    nodes = nodeArray.base
    nextPatterns = try GuardedArray(count: sorted.count)
    let roots = runs.filter { $0.parent == 0 }
    let branching = runs.filter { $0.parent != 0 && $0.parent + 1 != $0.first }
    heads = try GuardedArray(count: roots.count)
    headNodes = roots.map(\.first)
    branches = try GuardedArray(count: branching.count)
    var bits: UInt64 = 14
    while bits < 23, 1 << bits < 256 * roots.count { bits += 1 }
    shift = 64 - bits
    filter = try GuardedArray(count: 1 << Int(bits) / 8)
    source.buffer.withUnsafeBytes { buffer in
      label(buffer)
      for (index, end) in outline.ends.enumerated().reversed() { nodes[Int(end)].pattern = UInt32(index + 1) }
      link(branching)
      for (index, root) in roots.enumerated() {
        let start = patterns[root.pattern].bytes.lowerBound
        heads.base[index] = buffer[start..<start + Self.window].reduce(0) { $0 << 8 | UInt64($1) }
        let place = Self.place(heads.base[index], shift)
        filter.base[place >> 3] |= 1 << UInt8(place & 7)
      }
      findShorter(buffer)
    }
    for (index, end) in outline.ends.enumerated() {
      let isEqual = index + 1 < sorted.count && outline.ends[index + 1] == end
      nextPatterns.base[index] = isEqual ? UInt32(index + 2) : nodes[Int(nodes[Int(end)].shorter)].pattern
    }
  }

  private static func sorted(
    _ patterns: [ValuePatterns.Pattern], _ buffer: UnsafeRawBufferPointer
  ) -> [ValuePatterns.Pattern] {
    func order(_ first: ValuePatterns.Pattern, _ second: ValuePatterns.Pattern) -> Int {
      let length = min(first.bytes.count, second.bytes.count)
      let base = buffer.baseAddress!
      let order = Int(memcmp(base + first.bytes.lowerBound, base + second.bytes.lowerBound, length))
      return order == 0 ? first.bytes.count - second.bytes.count : order
    }
    // Of equal forms of one value, the first counts.
    let sorted = patterns.enumerated().sorted { first, second in
      let order = order(first.element, second.element)
      return order == 0 ? first.offset < second.offset : order < 0
    }.map(\.element)
    var known = Set<Int>()
    return sorted.enumerated().compactMap { index, pattern in
      if index > 0, order(sorted[index - 1], pattern) != 0 { known = [] }
      return known.insert(pattern.value).inserted ? pattern : nil
    }
  }

  /// The runs of nodes, the last node of each pattern, and the number of nodes with the unused first one.
  private static func outline(
    _ patterns: [ValuePatterns.Pattern], _ buffer: UnsafeRawBufferPointer
  ) -> (runs: [Run], ends: [UInt32], count: UInt32) {
    var (runs, ends, count): ([Run], [UInt32], UInt32) = ([], [], 1)
    var path: [Run] = []  // of the pattern before
    for (index, pattern) in patterns.enumerated() {
      let shared = index == 0 ? 0 : Self.shared(patterns[index - 1], pattern, buffer)
      while let last = path.last, last.depth > shared { path.removeLast() }
      let parent = path.last.map { $0.first + UInt32(shared - $0.depth) } ?? 0
      let depth = max(shared + 1, window)
      if depth <= pattern.bytes.count {
        let run = Run(first: count, depth: depth, pattern: index, parent: parent)
        runs.append(run)
        path.append(run)
        count += UInt32(pattern.bytes.count - depth + 1)
      }
      ends.append(path.last!.first + UInt32(pattern.bytes.count - path.last!.depth))
    }
    return (runs, ends, count)
  }

  private static func shared(
    _ first: ValuePatterns.Pattern, _ second: ValuePatterns.Pattern, _ buffer: UnsafeRawBufferPointer
  ) -> Int {
    let length = min(first.bytes.count, second.bytes.count)
    return (0..<length).first { buffer[first.bytes.lowerBound + $0] != buffer[second.bytes.lowerBound + $0] } ?? length
  }

  private func label(_ buffer: UnsafeRawBufferPointer) {
    for run in runs {
      let pattern = patterns[run.pattern]
      for depth in run.depth...pattern.bytes.count {
        let node = Int(run.first) + depth - run.depth
        nodes[node].label = buffer[pattern.bytes.lowerBound + depth - 1]
        nodes[node].hasNext = depth < pattern.bytes.count
      }
      if run.parent != 0, run.parent + 1 == run.first { nodes[Int(run.parent)].hasNext = true }
    }
  }

  private func link(_ branching: [Run]) {
    func key(_ run: Run) -> UInt64 { UInt64(run.parent) << 8 | UInt64(nodes[Int(run.first)].label) }
    let sorted = branching.sorted { key($0) < key($1) }
    branchNodes = sorted.map(\.first)
    for (index, run) in sorted.enumerated() {
      branches.base[index] = key(run)
      nodes[Int(run.parent)].hasBranches = true
    }
  }

  /// Finds the shorter nodes, from short beginnings to long ones: each is found with those of its parent.
  private func findShorter(_ buffer: UnsafeRawBufferPointer) {
    let sorted = runs.sorted { $0.depth < $1.depth }
    var (active, begun, depth): ([Run], Int, Int) = ([], 0, Self.window)
    while begun < sorted.count || !active.isEmpty {
      while begun < sorted.count, sorted[begun].depth == depth {
        active.append(sorted[begun])
        begun += 1
      }
      active.removeAll { patterns[$0.pattern].bytes.count < depth }
      for run in active {
        let node = run.first + UInt32(depth - run.depth)
        let parent = depth == run.depth ? run.parent : node - 1
        var found = parent == 0 ? 0 : next(nodes[Int(parent)].shorter, nodes[Int(node)].label)
        if found == 0, depth > Self.window {
          let end = patterns[run.pattern].bytes.lowerBound + depth
          found = self.node(endingWith: buffer[end - Self.window..<end].reduce(0) { $0 << 8 | UInt64($1) })
        }
        nodes[Int(node)].shorter = found
        if nodes[Int(node)].pattern == 0 { nodes[Int(node)].pattern = nodes[Int(found)].pattern }
      }
      depth += 1
    }
  }

  /// The longest node that the text ends with after `byte`, if it ended with `node` before. 0 if it is not longer than
  /// ``ValueSearch/window``.
  @inline(__always) func next(_ node: UInt32, _ byte: UInt8) -> UInt32 {
    let isNext = nodes[Int(node)].hasNext && nodes[Int(node) + 1].label == byte
    return isNext ? node &+ 1 : branch(node, byte)
  }

  private func branch(_ node: UInt32, _ byte: UInt8) -> UInt32 {
    var node = node
    while node != 0 {
      if nodes[Int(node)].hasNext, nodes[Int(node) + 1].label == byte { return node + 1 }
      if nodes[Int(node)].hasBranches {
        let key = UInt64(node) << 8 | UInt64(byte)
        let index = Self.firstIndex(branchNodes.count) { branches.base[$0] >= key }
        if index < branchNodes.count, branches.base[index] == key { return branchNodes[index] }
      }
      node = nodes[Int(node)].shorter
    }
    return 0
  }

  /// The node of exactly ``ValueSearch/window`` bytes that a text ends with.
  func node(endingWith recent: UInt64) -> UInt32 {
    guard Self.isSet(filter.base, Self.place(recent, shift)) else { return 0 }
    let head = recent & Self.windowMask
    let index = Self.firstIndex(headNodes.count) { heads.base[$0] >= head }
    return index < headNodes.count && heads.base[index] == head ? headNodes[index] : 0
  }

  /// Whether a pattern begins with the last bytes of a text, fewer than ``ValueSearch/window``.
  func hasBeginning(_ recent: UInt64, length: Int) -> Bool {
    let places = UInt64(8 * (Self.window - length))
    let head = recent << places & Self.windowMask
    let index = Self.firstIndex(headNodes.count) { heads.base[$0] >= head }
    return index < headNodes.count && heads.base[index] >> places == head >> places
  }

  /// The longest node that a node ends with and that another one follows.
  func continued(_ node: UInt32) -> UInt32 {
    var node = node
    while node != 0, !nodes[Int(node)].hasNext, !nodes[Int(node)].hasBranches { node = nodes[Int(node)].shorter }
    return node
  }

  /// Calls `body` with the index of each pattern that a node ends with.
  @inline(__always) func forEachPattern(_ node: UInt32, _ body: (Int) -> Void) {
    var number = nodes[Int(node)].pattern
    while number != 0 {
      body(Int(number) - 1)
      number = nextPatterns.base[Int(number) - 1]
    }
  }

  /// The number of bytes of a node.
  func depth(of node: UInt32) -> Int {
    let run = runs[Self.firstIndex(runs.count) { runs[$0].first > node } - 1]
    return run.depth + Int(node - run.first)
  }

  /// The first index for which a condition holds that holds for all later ones.
  private static func firstIndex(_ count: Int, where isReached: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isReached(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  @inline(__always) static func place(_ recent: UInt64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: ((recent & windowMask) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  @inline(__always) static func isSet(_ filter: UnsafePointer<UInt8>, _ place: Int) -> Bool {
    filter[place &>> 3] & 1 << UInt8(truncatingIfNeeded: place & 7) != 0
  }
}
