internal import ArgumentParser

/// Which records.
struct RecordOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The application that the keys belong to.", valueName: "name"))
  var service = "default"

  @Option(help: ArgumentHelp("The access group that the keys are in.", valueName: "name"))
  var group = "default"
}
