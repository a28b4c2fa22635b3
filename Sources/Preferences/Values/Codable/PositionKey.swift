/// Where an element is in an array, as a coding key.
struct PositionKey: CodingKey {
  let position: Int

  init(_ position: Int) { self.position = position }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { return nil }

  var intValue: Int? { position }
  var stringValue: String { "\(position)" }
}

/// What is stored of a class's superclass, as a coding key.
struct SuperKey: CodingKey {
  init() {}
  init?(intValue: Int) { return nil }
  init?(stringValue: String) { return nil }

  var intValue: Int? { nil }
  var stringValue: String { "super" }
}

extension PreferencesError {
  /// The same error with the way to the part it is about in front: `entry "hosts": element 2: …`.
  func at(_ path: [any CodingKey]) -> PreferencesError {
    path.reversed().reduce(self) { error, key in
      // Foundation's coders say `Index 2` where this one says 2.
      guard let position = key.intValue, key is PositionKey || key.stringValue == "Index \(position)" else {
        return error.about("entry \"\(key.stringValue)\"")
      }
      return error.about("element \(position)")
    }
  }
}
