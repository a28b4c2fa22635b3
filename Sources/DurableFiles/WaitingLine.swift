/// A first-in, first-out queue, from which the first of many elements is removed in constant time.
struct WaitingLine<Element> {
  private var arrived: [Element] = []
  /// The elements that arrived first, in reverse.
  private var first: [Element] = []

  var isEmpty: Bool { arrived.isEmpty && first.isEmpty }
  var count: Int { arrived.count + first.count }

  mutating func append(_ element: Element) { arrived.append(element) }

  mutating func popFirst() -> Element? {
    if first.isEmpty {
      first = arrived.reversed()
      arrived = []
    }
    return first.popLast()
  }
}
