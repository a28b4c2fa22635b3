/// The place of a value in a JSON document: a name or an index, in the place of the value around it.
///
/// All values inside share the places around them: a path for each would take far more memory than the document.
final class JSONPosition {
  enum Component: Hashable {
    case name(String)
    case index(Int)

    var text: String {
      switch self {
      case .name(let name): name
      case .index(let index): "\(index)"
      }
    }
  }

  let component: Component
  private let outer: JSONPosition?
  let depth: Int
  /// The bytes of the names on the path.
  let nameBytes: Int

  init(_ component: Component, in outer: JSONPosition?) {
    self.component = component
    self.outer = outer
    depth = (outer?.depth ?? 0) + 1
    let own = if case .name(let name) = component { name.utf8.count } else { 0 }
    nameBytes = (outer?.nameBytes ?? 0) + own
  }

  /// The place around it, or itself, at this depth, which is at most its own.
  func at(depth: Int) -> JSONPosition {
    var place = self
    while place.depth > depth, let outer = place.outer { place = outer }
    return place
  }

  var path: [Component] {
    var path = [component]
    var next = outer
    while let place = next {
      path.append(place.component)
      next = place.outer
    }
    return path.reversed()
  }
}
