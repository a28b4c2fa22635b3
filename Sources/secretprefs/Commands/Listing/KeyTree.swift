/// Keys as a tree whose branches are the parts before each dot. A branch is shown with its dot: a key is
/// the lines of its branches and its own line, joined.
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
        text += line(displayed(branch) + ".", depth + level)
      }
      // A key with a dot at its end would look like a branch.
      let shown = leaf.utf8.last == UInt8(ascii: ".") ? displayed(String(leaf.dropLast())) + "\\u{2E}" : displayed(leaf)
      text += line(shown, depth + branches.count)
      path = branches
    }
    return text
  }

  static func line(_ text: String, _ depth: Int) -> String { String(repeating: "  ", count: depth) + text + "\n" }

  /// Splits a key at its dots. The last part is never empty: a dot at the end belongs to it.
  private static func parts(of key: String) -> (branches: [String], leaf: String) {
    var branches = key.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    var leaf = branches.removeLast()
    if leaf.isEmpty { leaf = branches.removeLast() + "." }
    return (branches, leaf)
  }
}
