internal import ArgumentParser

/// Which records.
struct RecordOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The application that the keys belong to.", discussion: "Else $SECRETPREFS_SERVICE, else default.",
      valueName: "name"))
  var service: String?

  @Option(
    help: ArgumentHelp(
      "The access group that the keys are in.",
      discussion: "Else default, or the one group that a group's credential opens.", valueName: "name"))
  var group: String?

  func place() throws -> RecordPlace { try RecordPlace(service: service, group: group) }
}
