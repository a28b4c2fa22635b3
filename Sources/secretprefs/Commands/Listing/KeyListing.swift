internal import VaultCore

/// How `list` and `find` write keys.
struct KeyListing {
  enum Layout { case lines, long, tree, json }

  private(set) var layout = Layout.lines
  /// Whether the keys are of all services.
  private(set) var namesServices = false

  /// One key of one service per line.
  init() {}

  /// - Throws: a usage error if more than one form is given.
  init(isLong: Bool, isTree: Bool = false, isJSON: Bool, namesServices: Bool) throws(ToolError) {
    guard !isTree || !isLong && !isJSON else { throw .usage("--tree cannot be used with --long or --json") }
    layout = isJSON ? .json : isTree ? .tree : isLong ? .long : .lines
    self.namesServices = namesServices
  }

  /// - Parameter now: milliseconds since 1970-01-01 UTC.
  func write(_ records: [RecordInfo], at now: Int64) throws(ToolError) {
    switch layout {
    case .json: try Output.write(.array(records.map { .object($0.members(at: now)) }))
    case .long:
      try Output.write(
        Table(rows: records.map { (namesServices ? [displayed($0.service.text)] : []) + $0.row(at: now) }).text)
    case .tree: try Output.write(tree(records))
    case .lines:
      var lines: [UInt8] = []
      for record in records {
        if namesServices {
          record.service.utf8.withUnsafeBufferPointer { displayed($0, into: &lines) }
          lines.append(UInt8(ascii: "\t"))
        }
        record.key.utf8.withUnsafeBufferPointer { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\n"))
      }
      try Output.write(lines)
    }
  }

  private func tree(_ records: [RecordInfo]) -> String {
    guard namesServices else { return KeyTree.text(of: records.lazy.map(\.key.text)) }
    var text = ""
    var rest = records[...]
    while let service = rest.first?.service {
      let keys = rest.prefix { $0.service == service }
      text += KeyTree.line(displayed(service.text), 0) + KeyTree.text(of: keys.lazy.map(\.key.text), depth: 1)
      rest = rest.dropFirst(keys.count)
    }
    return text
  }
}
