/// An entry of KeePass, before its references are resolved.
struct KeePassEntry {
  let line: Int
  var hasTitle = false
  /// The names of its groups and its title.
  var place = ""
  /// The 16 bytes of its id.
  var id = 0..<0
  /// The fields, by their names in KeePass. The title is among them.
  var fields: [(name: String, bytes: Range<Int>)] = []
  /// What is not imported.
  var left = LeftParts()

  /// Why it is bad.
  var fault: PlainFault?
}
