/// An element of an array, or a member of a dictionary, in the text of a file.
struct DocumentItem {
  /// The name of a member; `nil` for an element.
  var name: String?
  /// The whole item: of a member, its name and its value.
  var range: Range<Int>
  /// The value alone.
  var value: Range<Int>
}
