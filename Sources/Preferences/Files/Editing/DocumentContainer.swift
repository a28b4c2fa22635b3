/// An array or a dictionary in the text of a file.
struct DocumentContainer {
  var isDictionary: Bool
  var items: [DocumentItem] = []
  /// What is between the brackets or tags.
  var content: Range<Int>

  /// The text before an item, after the previous one.
  func lead(_ index: Int) -> Range<Int> {
    (index == 0 ? content.lowerBound : items[index - 1].range.upperBound)..<items[index].range.lowerBound
  }

  /// The text after the last item.
  var tail: Range<Int> { (items.last?.range.upperBound ?? content.lowerBound)..<content.upperBound }
}
