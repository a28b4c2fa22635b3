/// How a file is laid out at one place, so that new text looks like the rest.
struct DocumentStyle {
  /// What each level is indented by.
  var unit: String
  var newline: String
  /// What is between a name and its value in JSON.
  var colon: String
  /// The line break and the indentation of the place; `nil` in a container that is written in one line.
  var indent: String?

  /// The style of what is inside.
  var inner: Self {
    var inner = self
    // No deeper than 32 characters, so that deep nesting does not multiply the size.
    inner.indent = indent.map { $0.utf8.count > 32 ? $0 : $0 + unit }
    return inner
  }
}
