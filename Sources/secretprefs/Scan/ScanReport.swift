internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// What `scan` has found so far.
final class ScanReport {
  struct Origin {
    var commit: String?
    var path: String?
  }

  private let names: [ScannedValues.ValueName]
  private let tooShort: Int
  private let messages: Messages
  private let scanner: TextScanner
  private var block: SecretBytes
  private var found: [(origin: Origin, finding: TextScanner.Finding)] = []
  private var unreadable: [String] = []
  private var texts: UInt64 = 0
  private var bytes: UInt64 = 0

  init(_ values: ScannedValues, _ messages: Messages) throws(VaultError) {
    names = values.names
    tooShort = values.tooShort
    self.messages = messages
    scanner = try TextScanner(try ValueSearch(values.patterns))
    block = try SecretBytes(count: TextScanner.blockSize)
  }

  /// Searches what can be read from a descriptor.
  func search(_ descriptor: Int32, at origin: Origin) {
    while true {
      let count = block.withUnsafeMutableBytes { block in
        retrying { DurableFiles.read(descriptor, block.baseAddress, block.count) }
      }
      guard count > 0 else {
        if count < 0 { fail(origin.path ?? "", errno) }
        break
      }
      block.withUnsafeBytes { add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    finish(at: origin)
  }

  func add(_ block: UnsafeRawBufferPointer) {
    bytes += UInt64(block.count)
    scanner.add(block)
  }

  /// Ends a text.
  func finish(at origin: Origin) {
    texts += 1
    found += scanner.finish().map { (origin, $0) }
  }

  /// Records a text that cannot be searched.
  /// - Parameter number: the `errno`.
  func fail(_ path: String, _ number: Int32) {
    messages.warn("\(displayed(path)) cannot be searched: \(systemText(number))")
    unreadable.append(path)
  }

  var error: ToolError? {
    guard found.isEmpty else { return .found(found.count) }
    return unreadable.isEmpty ? nil : .notSearched(unreadable.count)
  }

  var text: String {
    found.map { place, finding in
      let path = [place.commit, place.path.map(displayed)].compactMap(\.self).joined(separator: ":")
      return "\(path):\(finding.line):\(finding.column): \(names[finding.value].text) (\(finding.form.rawValue))\n"
    }.joined()
  }

  var json: JSON {
    let findings = found.map { place, finding in
      let name = names[finding.value]
      var members: [(String, JSON)] = place.commit.map { [("commit", .string($0))] } ?? []
      members += place.path.map { [("path", .string($0))] } ?? []
      return JSON.object(
        members + [
          ("line", .integer(Int64(finding.line))), ("column", .integer(Int64(finding.column))),
          ("group", .string(name.group)), ("service", .string(name.service)), ("key", .string(name.key)),
          ("form", .string(finding.form.rawValue)),
        ])
    }
    return .object([
      ("findings", .array(findings)), ("unreadable", .array(unreadable.map { .string($0) })),
      ("values", .integer(Int64(names.count))), ("tooShort", .integer(Int64(tooShort))), ("texts", .unsigned(texts)),
      ("bytes", .unsigned(bytes)),
    ])
  }
}
