/// The text around the items of a container: separators, white space and comments.
struct DocumentLayout<Syntax: DocumentSyntax> {
  let syntax: Syntax
  let container: DocumentContainer
  /// Of the items.
  let style: DocumentStyle

  /// What is before an item that stays.
  func lead(of index: Int, isFirst: Bool) -> [UInt8] {
    let isUsable = Syntax.separator.isEmpty || isFirst == (index == 0)
    return isUsable ? Array(syntax.bytes[container.lead(index)]) : leadOfNew(isFirst: isFirst)
  }

  /// What is before a new item.
  func leadOfNew(isFirst: Bool) -> [UInt8] {
    guard !Syntax.separator.isEmpty, !container.items.isEmpty else {
      return Array(((isFirst ? "" : Syntax.separator) + (style.indent ?? "")).utf8)
    }
    let first = syntax.bytes[container.lead(0)]
    if isFirst { return Array(first) }
    let last = container.items.count - 1
    return last > 0 ? Array(syntax.bytes[container.lead(last)]) : Array(Syntax.separator.utf8) + first
  }

  /// The comments before items that are removed. They may be about other items, too.
  func comments(_ removed: Range<Int>) -> [UInt8] { removed.flatMap { comment(container.lead($0)) } }

  /// What is after the last item.
  func end(isEmpty: Bool) -> [UInt8] {
    isEmpty && !Syntax.separator.isEmpty ? [] : Array(syntax.bytes[container.tail])
  }

  /// The text without the white space at its end; empty if there is nothing else.
  private func comment(_ range: Range<Int>) -> ArraySlice<UInt8> {
    let text = syntax.bytes[range]
    let blanks = text.reversed().prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.count
    let rest = text.dropLast(blanks)
    return Syntax.separator.isEmpty ? rest : []
  }
}
