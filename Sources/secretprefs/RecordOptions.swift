internal import ArgumentParser
internal import VaultCore

/// The service and access group of the records.
struct RecordOptions: ParsableArguments {
  @Option(
    name: FastPathOption.service.name,
    help: ArgumentHelp(
      "The service that the keys belong to.", discussion: ToolSetting.service.places,
      valueName: "name"), completion: .services)
  var service: String?

  @Option(
    name: FastPathOption.group.name,
    help: ArgumentHelp(
      "The access group that contains the keys.",
      discussion: ToolSetting.group.places + ToolSetting.soleGroup, valueName: "name"),
    completion: .groups)
  var group: String?

  func place() throws -> RecordPlace { try RecordPlace(service: service, group: group) }

  /// The place and the name of a key that a command was given: one of the service and group of these options, or a
  /// reference, which names its own.
  func named(_ key: String) throws -> (place: RecordPlace, key: String) {
    let place = try place()
    guard let reference = try SecretReference(argument: key) else { return (place, key) }
    guard service == nil, group == nil else {
      throw ToolError.usage(
        "a reference names its service and group", hint: "omit --service and --group, or name the key alone")
    }
    return (try reference.place, reference.key)
  }

  /// The same for several keys, which must have one place.
  func named(_ keys: [String]) throws -> (place: RecordPlace, keys: [String]) {
    let found = try keys.map(named)
    guard let first = found.first else { return (try place(), []) }
    guard found.allSatisfy({ $0.place == first.place }) else {
      throw ToolError.usage(
        "the keys are not of one service and group", hint: "use one command for each service and group")
    }
    return (first.place, found.map(\.key))
  }

  /// The place of a program's logins: the service that its credential helper uses, unless an option names one.
  func place(helper service: String?) throws -> RecordPlace {
    try RecordPlace(service: self.service ?? service, group: group)
  }
}
