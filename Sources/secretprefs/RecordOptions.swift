internal import ArgumentParser

/// The service and access group of the records.
struct RecordOptions: ParsableArguments {
  @Option(
    name: FastPathOption.service.name,
    help: ArgumentHelp(
      "The service that the keys belong to.", discussion: "Default: $SECRETPREFS_SERVICE, or \"default\".",
      valueName: "name"), completion: .services)
  var service: String?

  @Option(
    name: FastPathOption.group.name,
    help: ArgumentHelp(
      "The access group that contains the keys.",
      discussion: "Default: \"default\", or the group that the credential opens.", valueName: "name"),
    completion: .groups)
  var group: String?

  func place() throws -> RecordPlace { try RecordPlace(service: service, group: group) }

  /// The place of a program's logins: the service that its credential helper uses, unless an option names one.
  func place(helper service: String?) throws -> RecordPlace {
    try RecordPlace(service: self.service ?? service, group: group)
  }
}
