internal import ArgumentParser

/// The metadata to change, and the revision that the key must have.
struct MetadataOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Set the label, a name for people.", valueName: "text"))
  var label: String?

  @Flag(help: "Remove the label.")
  var noLabel = false

  @Option(help: ArgumentHelp("Set the comment.", valueName: "text"))
  var comment: String?

  @Flag(help: "Remove the comment.")
  var noComment = false

  @Option(
    name: .customLong("attribute"),
    help: ArgumentHelp("Set an attribute; may be repeated. Others stay.", valueName: "name=text"))
  var attributes: [String] = []

  @Option(
    name: .customLong("no-attribute"), help: ArgumentHelp("Remove the attribute with this name.", valueName: "name"))
  var noAttributes: [String] = []

  @Flag(
    help: ArgumentHelp(
      "The value is no secret, such as a user name.",
      discussion: "Lists show it, and \"scan\" and \"run --mask\" pass over it: the attribute secret=no."))
  var notSecret = false

  @Flag(help: "The value is a secret again.")
  var isSecret = false

  @Option(
    help: ArgumentHelp(
      "Set the time from which the value counts as expired.",
      discussion: """
        A time in UTC (2027-01-31T12:00:00Z), the start of a day in UTC (2027-01-31), or a duration from now (1y, \
        which is 365d, 2w, 90d, 12h, 30m, 45s).
        """,
      valueName: "time"))
  var expiry: String?

  @Flag(help: "Remove the expiry.")
  var noExpiry = false

  @Option(
    help: ArgumentHelp(
      "Keep this number of earlier values; 0 keeps none.",
      discussion: "For a key for which it was never set, a new value sets it. \(ToolSetting.history.places)",
      valueName: "number"))
  var history: UInt16?

  @Option(
    help: ArgumentHelp(
      "Change the key only if it has this revision; 0 means that it does not exist.", valueName: "revision"))
  var ifRevision: UInt64?

  /// Whether no metadata option is given.
  var isEmpty: Bool {
    label == nil && !noLabel && comment == nil && !noComment && attributes.isEmpty && noAttributes.isEmpty
      && !notSecret && !isSecret
      && expiry == nil && !noExpiry && history == nil
  }
}
