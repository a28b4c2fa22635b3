internal import VaultCore

/// How `list` and `find` write keys.
struct KeyListing {
  enum Layout { case lines, long, tree, references, json }

  private(set) var layout = Layout.lines
  /// Whether the keys are of all services.
  private(set) var namesServices = false
  /// Whether the keys are of all access groups.
  private(set) var namesGroups = false

  /// One key of one service per line.
  init() {}

  /// - Throws: a usage error if more than one form is given.
  init(
    isLong: Bool, isTree: Bool = false, isReferences: Bool = false, isJSON: Bool, namesServices: Bool, namesGroups: Bool
  ) throws(ToolError) {
    guard !isTree || !isLong && !isJSON else { throw .usage("--tree cannot be used with --long or --json") }
    guard !isReferences || !isLong && !isTree else {
      throw .usage("--references cannot be used with --long or --tree")
    }
    layout = isJSON ? .json : isTree ? .tree : isLong ? .long : isReferences ? .references : .lines
    self.namesServices = namesServices
    self.namesGroups = namesGroups
  }

  /// The access groups that are listed.
  func groups(_ place: RecordPlace, of vault: Vault, _ messages: Messages) throws -> [AccessGroup] {
    namesGroups ? try vault.allGroups(messages) : [try place.group(in: vault)]
  }

  /// - Parameter now: milliseconds since 1970-01-01 UTC.
  func write(_ records: [ListedRecord], of vault: Vault, at now: Int64) throws {
    let showsValues = layout == .json || layout == .long
    let records = try showsValues ? records.map { try $0.showingValue(of: vault) } : records
    switch layout {
    case .json: try Output.write(.array(records.map { .object($0.members(at: now)) }))
    case .long:
      let rows = records.map { places($0).map(displayed) + $0.info.row(at: now, $0.value?.short) }
      try Output.write(Table(rows: rows).text)
    case .tree: try Output.write(tree(records[...], depth: 0))
    case .references: try Output.write(records.map { $0.reference.text + "\n" }.joined())
    case .lines:
      var lines: [UInt8] = []
      for record in records {
        for place in places(record) {
          lines += displayed(place).utf8
          lines.append(UInt8(ascii: "\t"))
        }
        record.info.key.utf8.withUnsafeBufferPointer { displayed($0, into: &lines) }
        lines.append(UInt8(ascii: "\n"))
      }
      try Output.write(lines)
    }
  }

  /// The names in front of a key.
  private func places(_ record: ListedRecord) -> [String] {
    (namesGroups ? [record.group.name.text] : []) + (namesServices ? [record.info.service.text] : [])
  }

  /// - Parameter depth: the number of names in front of a key that the records have in common.
  private func tree(_ records: ArraySlice<ListedRecord>, depth: Int) -> String {
    guard let first = records.first else { return "" }
    guard depth < places(first).count else { return KeyTree.text(of: records.lazy.map(\.info.key.text), depth: depth) }
    var text = ""
    var rest = records
    while let next = rest.first {
      let name = places(next)[depth]
      let same = rest.prefix { places($0)[depth] == name }
      text += KeyTree.line(displayed(name), depth) + tree(same, depth: depth + 1)
      rest = rest.dropFirst(same.count)
    }
    return text
  }
}
