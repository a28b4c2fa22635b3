internal import ArgumentParser

/// What is written down about a key besides its value, and which revision the key must have for it.
struct MetadataOptions: ParsableArguments {
  @Option(help: ArgumentHelp("What people call it.", valueName: "text"))
  var label: String?

  @Flag(help: "Take the label away.")
  var noLabel = false

  @Option(help: ArgumentHelp("A note about it.", valueName: "text"))
  var comment: String?

  @Flag(help: "Take the comment away.")
  var noComment = false

  @Option(
    name: .customLong("attribute"),
    help: ArgumentHelp("An attribute of your own, once for each; others stay.", valueName: "name=text"))
  var attributes: [String] = []

  @Option(
    name: .customLong("no-attribute"), help: ArgumentHelp("Take the attribute of that name away.", valueName: "name"))
  var noAttributes: [String] = []

  @Option(
    help: ArgumentHelp(
      "When the value should no longer be used.",
      discussion: "A time in UTC, 2027-01-31T12:00:00Z, or a whole number from now: 90d, 12h, 30m, 45s.",
      valueName: "time"))
  var expiry: String?

  @Flag(help: "Take the expiry away.")
  var noExpiry = false

  @Option(help: ArgumentHelp("Keep so many earlier values and drop older ones; 0 keeps none.", valueName: "number"))
  var history: UInt16?

  @Option(
    help: ArgumentHelp(
      "Do it only if the key has this revision; 0: only if there is no such key.", valueName: "revision"))
  var ifRevision: UInt64?

  /// Whether nothing is to be written down.
  var isEmpty: Bool {
    label == nil && !noLabel && comment == nil && !noComment && attributes.isEmpty && noAttributes.isEmpty
      && expiry == nil && !noExpiry && history == nil
  }
}
