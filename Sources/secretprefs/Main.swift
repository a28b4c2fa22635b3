internal import ArgumentParser
internal import CToolBuild
internal import DurableFiles

/// Hardens the process, parses the arguments, runs one command and exits with its status.
@main
struct Main {
  // Nonisolated: code on the main actor would check its executor at run time.
  nonisolated static func main() {
    let status = run()
    // `run()` has released and wiped everything that held a secret.
    PendingSignal.raiseIfPending()
    exit(status)
  }

  private nonisolated static func run() -> Int32 {
    toolbuild_unset_root()
    let arguments = Arguments.read()
    var messages = Messages(isJSON: arguments.contains(option: "--json"))
    do {
      try ProcessHardening.apply()
      if arguments.requestCandidates { try ProcessHardening.leaveTerminal() }
      guard arguments.areText else { throw ToolError.usage("an argument is not valid UTF-8") }
      // Without a command.
      if arguments.words.isEmpty {
        try perform(Arguments(words: [Overview.configuration.commandName ?? ""]), &messages)
      } else if let action = FastPath.parse(arguments) {
        messages.given = GivenOptions(arguments)
        try action.perform(messages)
      } else {
        try perform(arguments, &messages)
      }
      return ExitStatus.success.rawValue
    } catch let refusal as DockerRefusal {
      return refusal.report(messages).rawValue
    } catch let end as CommandEnd {
      return end.code
    } catch { return messages.report(ToolError(thrown: error)).rawValue }
  }

  private nonisolated static func perform(_ arguments: Arguments, _ messages: inout Messages) throws {
    var understood: (any ToolCommand)?
    do {
      var command = try Root.parseAsRoot(arguments.words)
      understood = command as? any ToolCommand
      // The remaining case is a help request, which throws the text to print.
      if understood == nil, !(command is Root) { try command.run() }
    } catch {
      // The parser's own message repeats the argument it rejects, which may be a misplaced secret.
      guard arguments.requestHelp, !arguments.requestUnknownHelp, Root.exitCode(for: error) == .success else {
        throw UsageRefusal.error(for: arguments)
      }
      return try Output.write(Root.fullMessage(for: error) + "\n")
    }
    guard let understood else { throw UsageRefusal.error(for: arguments) }
    if let fault = try OptionFault.repeated(in: arguments.options, of: type(of: understood))
      ?? .emptyPath(in: arguments, of: type(of: understood))
    {
      throw UsageRefusal.error(for: fault, of: type(of: understood))
    }
    messages.given = GivenOptions(arguments)
    try understood.perform(messages)
  }
}
