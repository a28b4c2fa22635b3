internal import ArgumentParser

/// Which records.
struct RecordOptions: ParsableArguments {
  @Option(
    name: PlainOption.service.name,
    help: ArgumentHelp(
      "The application that the keys belong to.", discussion: "Else $SECRETPREFS_SERVICE, else default.",
      valueName: "name"))
  var service: String?

  @Option(
    name: PlainOption.group.name,
    help: ArgumentHelp(
      "The access group that the keys are in.",
      discussion: "Else default, or the one group that a group's credential opens.", valueName: "name"))
  var group: String?

  func place() throws -> RecordPlace { try RecordPlace(service: service, group: group) }
}
