internal import ArgumentParser

/// Whether a command works on all services and access groups.
struct ScopeOptions: ParsableArguments {
  @Flag(help: "Take the keys of all services.")
  var allServices = false

  @Flag(help: "Take the keys of all access groups that the credential opens.")
  var allGroups = false

  /// Refuses an option that names what these flags take all of.
  func check(service: String?, group: String?) throws(ToolError) {
    try Self.check(allServices: allServices, allGroups: allGroups, service: service, group: group)
  }

  /// The same for a command whose own flags have these names.
  static func check(allServices: Bool, allGroups: Bool, service: String?, group: String?) throws(ToolError) {
    for (flag, isGiven, name, value) in [
      ("--all-services", allServices, "--service", service), ("--all-groups", allGroups, "--group", group),
    ] where isGiven && value != nil {
      throw .usage("\(flag) and \(name) contradict each other")
    }
  }

  func scope(_ place: RecordPlace, _ options: RecordOptions, _ choice: KeyChoice) throws(ToolError) -> RecordScope {
    try check(service: options.service, group: options.group)
    return RecordScope(place: place, allServices: allServices, allGroups: allGroups, choice: choice)
  }
}
