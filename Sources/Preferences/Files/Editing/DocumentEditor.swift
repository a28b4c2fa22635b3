/// Changes values in the text of a file. What is not changed keeps its bytes: comments, the order of names, the
/// spellings of numbers and texts, and what no lookup returns, such as null.
struct DocumentEditor<Syntax: DocumentSyntax> {
  let syntax: Syntax
  /// Represents a value as the format does.
  let marks: ValueMarks

  /// Returns the text with the values of `new`; `nil` if it would be read differently, as with a value that stands for
  /// several names.
  ///
  /// - Parameters:
  ///   - new: the values to write.
  ///   - read: reads values from a text.
  func edit(
    to new: [String: PreferenceValue],
    reading read: ([UInt8]) throws(PreferencesError) -> [String: PreferenceValue]
  ) throws(PreferencesError) -> [UInt8]? {
    let text = try edited(try read(syntax.bytes), to: new)
    let back: [String: PreferenceValue]
    do throws(PreferencesError) { back = try read(text) } catch { return nil }
    return try isSame(.dictionary(back), .dictionary(new)) ? text : nil
  }

  private func edited(
    _ old: [String: PreferenceValue], to new: [String: PreferenceValue]
  ) throws(PreferencesError) -> [UInt8] {
    let root = syntax.root
    let indent = syntax.newline + (syntax.indent(of: root) ?? "")
    let style = DocumentStyle(unit: Syntax.usualUnit, newline: syntax.newline, colon: ": ", indent: indent)
    let edited = try value(root, .dictionary(old), .dictionary(new), style)
    return syntax.bytes[..<root.lowerBound] + edited + syntax.bytes[root.upperBound...]
  }

  // MARK: One value

  /// - Parameter style: of the place of the value.
  private func value(
    _ range: Range<Int>, _ old: PreferenceValue?, _ new: PreferenceValue, _ style: DocumentStyle
  ) throws(PreferencesError) -> [UInt8] {
    if let old, try isSame(old, new) { return Array(syntax.bytes[range]) }
    guard let container = try syntax.container(range) else {
      return try syntax.text(try marks.marked(new), named: nil, style)
    }
    switch (old, new) {
    // The top level is never a mark.
    case (.dictionary(let old)?, .dictionary(let new))
    where container.isDictionary && (range == syntax.root || ValueMarks.isPlain(old) && ValueMarks.isPlain(new)):
      return try rebuilt(range, container, try members(container, old, new), style)
    case (.array(let old)?, .array(let new)) where !container.isDictionary && old.count == container.items.count:
      return try rebuilt(range, container, try elements(old, new), style)
    default:
      return try syntax.text(try marks.marked(new), named: nil, style)
    }
  }

  /// Whether a value that was read is the other one, or the form in which the format stores it.
  private func isSame(_ read: PreferenceValue, _ value: PreferenceValue) throws(PreferencesError) -> Bool {
    if read.isIdentical(to: value) { return true }
    switch (read, value) {
    case (.dictionary(let read), .dictionary(let members)) where read.count == members.count:
      for (name, value) in members {
        guard let read = read[spelled: name], try isSame(read, value) else { return false }
      }
      return true
    case (.array(let read), .array(let items)) where read.count == items.count:
      for (read, item) in zip(read, items) where try !isSame(read, item) { return false }
      return true
    case (.dictionary, _), (.array, _): return false
    default: return read.isIdentical(to: try marks.unmarked(try marks.marked(value)))
    }
  }

  // MARK: Items

  /// An item of the new text.
  private enum Part {
    /// The item with this index, with its value before and its new value; without a new value it keeps its bytes.
    case kept(Int, PreferenceValue?, PreferenceValue?)
    /// A new item, at the end or, where the names are sorted, in its place; also one that only spells its name
    /// differently, in the place of the old one.
    case added(String?, PreferenceValue)
  }

  private func members(
    _ container: DocumentContainer, _ old: [String: PreferenceValue], _ new: [String: PreferenceValue]
  ) throws(PreferencesError) -> [Part] {
    var parts: [Part] = []
    var seen: Set<String> = []
    for (index, item) in container.items.enumerated() {
      guard let name = item.name else { continue }
      let isFirst = seen.insert(name).inserted
      if isFirst, let spelling = new.otherSpelling(of: name), let value = new[spelling] {
        parts.append(.added(spelling, value))
        continue
      }
      switch (old[name], new[name]) {
      // Null, which is absent.
      case (nil, nil): parts.append(.kept(index, nil, nil))
      case (let before?, let after?) where try isSame(before, after): parts.append(.kept(index, nil, nil))
      // Names that are equal and differ in their bytes are one, whose first spelling gets the value.
      case (let before, let after?): if isFirst { parts.append(.kept(index, before, after)) }
      case (_?, nil): break
      }
    }
    let names = container.items.compactMap(\.name)
    let isSorted = names == names.sorted()
    for name in new.keys.sorted() where !seen.contains(name) {
      guard let value = new[name] else { continue }
      let place = isSorted ? parts.firstIndex { isAfter($0, name, in: container) } : nil
      parts.insert(.added(name, value), at: place ?? parts.endIndex)
    }
    return parts
  }

  private func isAfter(_ part: Part, _ name: String, in container: DocumentContainer) -> Bool {
    switch part {
    case .kept(let index, _, _): (container.items[index].name ?? "") > name
    case .added(let added, _): (added ?? "") > name
    }
  }

  /// Elements are the same at the beginning and at the end; those between them are changed one by one if their number
  /// is the same.
  private func elements(_ old: [PreferenceValue], _ new: [PreferenceValue]) throws(PreferencesError) -> [Part] {
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, try isSame(old[start], new[start]) { start += 1 }
    var tail = 0
    while tail < shorter - start, try isSame(old[old.count - 1 - tail], new[new.count - 1 - tail]) { tail += 1 }
    var parts: [Part] = (0..<start).map { .kept($0, nil, nil) }
    if old.count == new.count {
      parts += (start..<(old.count - tail)).map { .kept($0, old[$0], new[$0]) }
    } else {
      parts += new[start..<(new.count - tail)].map { .added(nil, $0) }
    }
    return parts + ((old.count - tail)..<old.count).map { .kept($0, nil, nil) }
  }

  // MARK: Text

  private func rebuilt(
    _ range: Range<Int>, _ container: DocumentContainer, _ parts: [Part], _ outer: DocumentStyle
  ) throws(PreferencesError) -> [UInt8] {
    let style = syntax.style(of: container, in: outer, isTop: range == syntax.root)
    let layout = DocumentLayout(syntax: syntax, container: container, style: style)
    var text = Array(syntax.bytes[range.lowerBound..<container.content.lowerBound])
    var next = 0
    for (place, part) in parts.enumerated() {
      switch part {
      case .kept(let index, let before, let after):
        text += layout.comments(next..<index) + layout.lead(of: index, isFirst: place == 0)
        let item = container.items[index]
        if let after {
          text += syntax.bytes[item.range.lowerBound..<item.value.lowerBound]
          text += try value(item.value, before, after, style)
          text += syntax.bytes[item.value.upperBound..<item.range.upperBound]
        } else {
          text += syntax.bytes[item.range]
        }
        next = index + 1
      case .added(let name, let value):
        text += layout.leadOfNew(isFirst: place == 0) + (try syntax.text(try marks.marked(value), named: name, style))
      }
    }
    text += layout.comments(next..<container.items.count) + layout.end(isEmpty: parts.isEmpty)
    return text + syntax.bytes[container.content.upperBound..<range.upperBound]
  }
}
