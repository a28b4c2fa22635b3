internal import VaultCore

/// What `export` writes in a format that has keys and values alone.
struct KeyExport {
  let format: ExportFormat
  let scope: RecordScope
  let services: [ExportedService]
  /// Whether each key gets the name of its variable.
  let hasVariables: Bool
  /// The name of the Secret, if an option gives one.
  let objectName: String?

  /// One key and its name in the format.
  private struct Entry {
    let service: ExportedService
    let key: String
    /// What errors and warnings call it.
    let label: String
    let name: String
  }

  /// What the values are like that were written.
  private struct Written {
    var size = 0
    var expired = 0
    /// What errors and warnings call the keys whose lines have a doubt.
    var doubts: [DotenvDoubt: [String]] = [:]
  }

  /// - Parameter now: milliseconds since 1970-01-01 UTC.
  /// - Throws: ``ToolError`` if the format cannot have a key or a value, or two keys would have one name.
  func write(to output: SecretOutput, at now: Int64, _ messages: Messages) throws {
    let entries = try entries()
    var written = Written()
    switch format {
    case .json: try writeJSON(entries, to: output, at: now, &written)
    case .kubernetes: try writeObjects(entries, to: output, at: now, &written)
    default:
      try format.writeStart("", to: output)
      for entry in entries { try write(entry, isFirst: false, to: output, at: now, &written) }
      try checkSize(written.size)
    }
    if written.expired > 0 { messages.warn("\(counted(written.expired, "key has", "keys have")) expired") }
    let renamed = entries.filter { $0.key != $0.name }.map { "\(displayed($0.label)) as \($0.name)" }
    if !renamed.isEmpty, !hasVariables {
      messages.warn("exported under another name: \(renamed.joined(separator: ", "))")
    }
    for doubt in DotenvDoubt.allCases {
      guard let labels = written.doubts[doubt] else { continue }
      messages.warn("\(doubt.warning): \(labels.map(displayed).joined(separator: ", "))")
    }
  }

  static let notAnObject = ToolError.usage(
    "the name is not one of a Kubernetes object", hint: "--name with small letters, digits, - and .")

  private func entries() throws(ToolError) -> [Entry] {
    var entries: [Entry] = []
    var refused: [String] = []
    for service in services {
      for key in service.keys {
        let label =
          scope.isOnePlace ? key : SecretReference(service: service.service, key: key, in: service.group).text
        if let name = format.name(of: key, asVariable: hasVariables) {
          entries.append(Entry(service: service, key: key, label: label, name: name))
        } else {
          refused.append(label)
        }
      }
    }
    guard refused.isEmpty else {
      throw .usage(
        "nothing was exported: \(format.rawValue) cannot have these keys: \(listed(refused))", hint: format.keyRule)
    }
    let same = Dictionary(grouping: entries, by: place).values.filter { $0.count > 1 }.flatMap { $0.map(\.label) }
    guard same.isEmpty else {
      throw .usage(
        "nothing was exported: in \(format.rawValue) these keys share a name: "
          + listed(same.sorted()),
        hint: scope.isOnePlace ? "--only key exports some of them" : "--match and --except choose some of them")
    }
    return entries
  }

  /// Where a name must be unique: in one object, or in the whole export.
  private func place(_ entry: Entry) -> [String] {
    let isInService = format == .json || format == .kubernetes
    return (isInService ? [entry.service.group.name.text, entry.service.service.text] : []) + [entry.name]
  }

  private func write(
    _ entry: Entry, isFirst: Bool, indent: String = "  ", to output: SecretOutput, at now: Int64,
    _ written: inout Written
  ) throws {
    guard let record = try entry.service.values.record(entry.key) else {
      throw ToolError.noSuchKey.about(key: entry.key)
    }
    if record.isExpired(at: now) { written.expired += 1 }
    try entry.service.values.withValue(of: entry.key) { _, bytes in
      written.size += bytes.count
      guard format.allows(value: bytes) else { throw refusal(entry.label) }
      for doubt in try format.doubts(of: entry.name, bytes) { written.doubts[doubt, default: []].append(entry.label) }
      try format.write(entry.name, record.kind, bytes, isFirst: isFirst, indent: indent, to: output)
    }
  }

  private func checkSize(_ size: Int) throws(ToolError) {
    if let limit = format.limit, size > limit.bytes {
      throw .usage("the values have \(size) bytes, and \(limit.holder) has at most \(limit.bytes)")
    }
  }

  private func refusal(_ label: String) -> ToolError {
    .usage(
      "nothing was exported: \(format.rawValue) cannot have the value of \(label)",
      hint: format == .json
        ? "JSON has text only; --format kubernetes holds any bytes" : "this format cannot contain NUL bytes")
  }
}

extension KeyExport {
  /// One object, with an object for each group and service if there are several.
  private func writeJSON(
    _ entries: [Entry], to output: SecretOutput, at now: Int64, _ written: inout Written
  ) throws {
    var open: [String] = []
    var isFirst = true
    try output.write("{")
    for entry in entries {
      let service = entry.service
      let path =
        (scope.allGroups ? [service.group.name.text] : []) + (scope.allServices ? [service.service.text] : [])
      let common = zip(open, path).prefix { $0.utf8.elementsEqual($1.utf8) }.count
      while open.count > common {
        open.removeLast()
        try output.write("\n" + Self.indent(open.count) + "}")
        isFirst = false
      }
      for name in path.dropFirst(common) {
        try output.write((isFirst ? "\n" : ",\n") + Self.indent(open.count) + JSON.string(name).text + ": {")
        open.append(name)
        isFirst = true
      }
      try write(entry, isFirst: isFirst, indent: Self.indent(open.count), to: output, at: now, &written)
      isFirst = false
    }
    while !open.isEmpty {
      open.removeLast()
      try output.write("\n" + Self.indent(open.count) + "}")
    }
    try output.write("\n}\n")
  }

  private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth + 1) }

  /// A Secret for each service.
  private func writeObjects(
    _ entries: [Entry], to output: SecretOutput, at now: Int64, _ written: inout Written
  ) throws {
    let names = services.map { objectName ?? $0.service.text }
    let refused = names.filter { !ExportFormat.isObjectName($0) }
    guard refused.isEmpty else {
      throw scope.isOnePlace
        ? Self.notAnObject
        : ToolError.usage(
          "nothing was exported: these services have no names of Kubernetes objects: \(listed(refused.map(displayed)))",
          hint: "--service exports one of them, and --name names its Secret")
    }
    let same = Dictionary(grouping: zip(names, services), by: \.0).values.filter { $0.count > 1 }
    guard same.isEmpty else {
      let places = same.flatMap { $0.map { "\($0) of \(displayed($1.group.name.text))" } }
      throw ToolError.usage(
        "nothing was exported: two Secrets would have one name: \(listed(places.sorted()))",
        hint: "--group exports the services of one access group")
    }
    var rest = entries[...]
    for (index, (name, service)) in zip(names, services).enumerated() {
      if index > 0 { try output.write("---\n") }
      try format.writeStart(name, to: output)
      let before = written.size
      let own = rest.prefix { $0.service.group.id == service.group.id && $0.service.service == service.service }
      rest = rest.dropFirst(own.count)
      for entry in own { try write(entry, isFirst: false, to: output, at: now, &written) }
      try checkSize(written.size - before)
    }
  }
}
