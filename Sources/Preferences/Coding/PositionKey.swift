/// The position of an element in an array, as a coding key.
struct PositionKey: CodingKey {
  let position: Int

  init(_ position: Int) { self.position = position }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { return nil }

  var intValue: Int? { position }
  var stringValue: String { "\(position)" }
}

/// The coding key of the superclass of a class.
struct SuperKey: CodingKey {
  init() {}
  init?(intValue: Int) { return nil }
  init?(stringValue: String) { return nil }

  var intValue: Int? { nil }
  var stringValue: String { "super" }
}

extension PreferencesError {
  /// The same error with the path of the affected part in front: `entry "hosts": element 2: …`.
  func at(_ path: [any CodingKey]) -> PreferencesError {
    path.reversed().reduce(self) { error, key in
      // Foundation's coders write `Index 2` instead of 2.
      guard let position = key.intValue, key is PositionKey || key.stringValue == "Index \(position)" else {
        let entry = "entry \"\(key.stringValue)\""
        // A case without a payload is declared in source code. Any other key, as of a dictionary, may be a part of the
        // value.
        let mirror = Mirror(reflecting: key)
        let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty || key is SuperKey
        return error.about(entry, discreetly: isDeclared ? entry : "an entry")
      }
      return error.about("element \(position)")
    }
  }
}
