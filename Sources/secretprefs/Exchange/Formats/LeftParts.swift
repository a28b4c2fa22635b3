/// The parts of an entry that are not imported, each once, in the order of the file.
struct LeftParts {
  private(set) var all: [String] = []
  private var known: Set<String> = []

  mutating func add(_ part: String) { if known.insert(part).inserted { all.append(part) } }
}
