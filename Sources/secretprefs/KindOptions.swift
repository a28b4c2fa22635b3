internal import ArgumentParser
internal import VaultCore

/// The kind of the value that `set` stores.
struct KindOptions: ParsableArguments {
  /// The kinds by the names that the tool shows.
  static let kinds: [ValueKind] = [
    .string, .data, .bool, .integer, .unsignedInteger, .double, .date, .url, .json,
  ]

  @Flag(
    name: [.long, .customLong("integer")],
    help: "Store a whole number; one above 9223372036854775807 as unsignedInteger.")
  var int = false

  @Flag(help: "Store a bool: true or false, yes or no, on or off, 1 or 0.")
  var bool = false

  @Flag(help: "Store a number.")
  var double = false

  @Flag(help: "Store a point in time, such as 2027-01-31T12:00:00Z.")
  var date = false

  @Option(
    help: ArgumentHelp(
      "Store a value of this kind: \(kinds.map(\.label).joined(separator: ", ")).", valueName: "name"),
    completion: .list(kinds.map(\.label)))
  var kind: String?

  /// - Parameter isData: whether an option of its own asks for data.
  func kind(isData: Bool) throws(ToolError) -> ValueKind {
    let asked: [(isAsked: Bool, kind: ValueKind)] = [
      (isData, .data), (int, .integer), (bool, .bool), (double, .double), (date, .date),
    ]
    var kinds = asked.filter(\.isAsked).map(\.kind)
    if let kind {
      guard let named = Self.kinds.first(where: { $0.label == kind }) else {
        throw .usage(
          "--kind has no such name", hint: "--kind " + Self.kinds.map(\.label).joined(separator: ", "))
      }
      kinds.append(named)
    }
    guard kinds.count <= 1 else { throw .usage("a value has one kind") }
    return kinds.first ?? .string
  }
}
