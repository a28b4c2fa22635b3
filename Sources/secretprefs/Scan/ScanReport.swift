internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// What `scan` has found so far.
final class ScanReport {
  /// Where a text is. In bytes, because neither a path nor a reference of git need be UTF-8.
  struct Origin {
    var commit: [UInt8]?
    /// A reference of git to what is no commit.
    var reference: [UInt8]?
    var path: [UInt8]?

    fileprivate var name: [UInt8] { path ?? reference ?? commit ?? [] }
  }

  /// The parts of an ``Origin`` as they are shown.
  private typealias Place = [(name: String, text: String)]

  private let names: [ScannedValues.ValueName]
  private let tooShort: Int
  private let messages: Messages
  private let scanner: TextScanner
  private var block: SecretBytes
  private var found: [(place: Place, finding: TextScanner.Finding, isName: Bool)] = []
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
    var failure: Int32?
    while true {
      let count = block.withUnsafeMutableBytes { readWaiting(descriptor, into: $0) }
      guard count > 0 else {
        if count < 0 { failure = errno }
        break
      }
      block.withUnsafeBytes { add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    finish(at: origin)
    if let failure { fail(at: origin, failure) }
  }

  func add(_ block: UnsafeRawBufferPointer) {
    bytes += UInt64(block.count)
    scanner.add(block)
  }

  /// Ends a text.
  func finish(at origin: Origin) {
    texts += 1
    let findings = scanner.finish()
    guard !findings.isEmpty else { return }
    let place = place(of: origin)
    found += findings.map { (place, $0, false) }
  }

  /// Searches a path or the name of a reference, between two texts.
  ///
  /// - Parameter isWhole: Whether all its parts are searched. Otherwise only the last one is, because those before it
  ///   are names of their own, and each of them is found once.
  func searchName(at origin: Origin, isWhole: Bool = false) {
    let last = isWhole ? 0 : origin.name.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
    var values: Set<Int> = []
    let matches = scanner.matches(in: origin.name)
      .filter { $0.range.upperBound > last && values.insert($0.value).inserted }
    guard !matches.isEmpty else { return }
    let place = place(of: origin)
    found += matches.map { (place, TextScanner.Finding(value: $0.value, form: $0.form, line: 1, column: 1), true) }
  }

  /// Records a text that cannot be searched.
  /// - Parameter number: the `errno`.
  func fail(at origin: Origin, _ number: Int32) {
    let name = shown(origin.name)
    messages.warn("\(displayed(name)) cannot be searched: \(systemText(number))")
    unreadable.append(name)
  }

  /// A path or reference as text, in which `***` replaces each part that has a value. Call this between two texts.
  func shown(_ name: [UInt8]) -> String {
    let hidden = scanner.matches(in: name)
    return name.split(separator: Self.slash, omittingEmptySubsequences: false).map { part in
      hidden.contains { $0.range.overlaps(part.indices) } ? "***" : FileTree.text(utf8: Array(part))
    }.joined(separator: "/")
  }

  private static let slash = UInt8(ascii: "/")

  private func place(of origin: Origin) -> Place {
    var place: Place = []
    if let commit = origin.commit { place.append(("commit", String(decoding: commit, as: UTF8.self))) }
    if let reference = origin.reference { place.append(("reference", shown(reference))) }
    if let path = origin.path { place.append(("path", shown(path))) }
    return place
  }

  var error: ToolError? {
    guard found.isEmpty else { return .found(found.count) }
    return unreadable.isEmpty ? nil : .notSearched(unreadable.count)
  }

  var text: String {
    found.map { place, finding, isName in
      let path = place.map { displayed($0.text) }.joined(separator: ":")
      let position = isName ? " in the name" : "\(finding.line):\(finding.column)"
      return "\(path):\(position): \(names[finding.value].text) (\(finding.form.rawValue))\n"
    }.joined()
  }

  var json: JSON {
    let findings = found.map { place, finding, isName in
      let name = names[finding.value]
      var members: [(String, JSON)] = place.map { ($0.name, .string($0.text)) }
      members +=
        isName
        ? [("in", .string("name"))]
        : [("line", .integer(Int64(finding.line))), ("column", .integer(Int64(finding.column)))]
      members += [
        ("group", .string(name.group)), ("service", .string(name.service)), ("key", .string(name.key)),
        ("form", .string(finding.form.rawValue)),
      ]
      return JSON.object(members)
    }
    return .object([
      ("findings", .array(findings)), ("unreadable", .array(unreadable.map { .string($0) })),
      ("values", .integer(Int64(names.count))), ("tooShort", .integer(Int64(tooShort))), ("texts", .unsigned(texts)),
      ("bytes", .unsigned(bytes)),
    ])
  }
}
