/// Keys as a tree whose branches are the parts before each dot and each slash. A branch is shown with the dot or slash:
/// a key is the lines of its branches and its own line, joined.
enum KeyTree {
  /// - Parameters:
  ///   - keys: in the order of their bytes, so that the keys of one branch follow each other.
  ///   - depth: the depth of the first branches.
  static func text(of keys: some Sequence<String>, depth: Int = 0) -> String {
    var text = ""
    var path: [String] = []
    for key in keys {
      let (branches, leaf) = parts(of: key)
      let common = zip(path, branches).prefix { $0.utf8.elementsEqual($1.utf8) }.count
      for (level, branch) in branches.enumerated().dropFirst(common) {
        text += line(displayed(branch), depth + level)
      }
      // A key with a separator at its end would look like a branch.
      let end = leaf.unicodeScalars.last.flatMap { isSeparator($0) ? $0 : nil }
      let shown =
        end.map {
          displayed(String(String.UnicodeScalarView(leaf.unicodeScalars.dropLast())))
            + "\\u{\(String($0.value, radix: 16, uppercase: true))}"
        }
        ?? displayed(leaf)
      text += line(shown, depth + branches.count)
      path = branches
    }
    return text
  }

  static func line(_ text: String, _ depth: Int) -> String { String(repeating: "  ", count: depth) + text + "\n" }

  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar == "/" }

  /// Splits a key behind its separators. The last part is never empty: a separator at the end belongs to it.
  private static func parts(of key: String) -> (branches: [String], leaf: String) {
    var branches: [String] = []
    var part = ""
    for scalar in key.unicodeScalars {
      part.unicodeScalars.append(scalar)
      guard isSeparator(scalar) else { continue }
      branches.append(part)
      part = ""
    }
    if part.isEmpty, let last = branches.popLast() { part = last }
    return (branches, part)
  }
}
