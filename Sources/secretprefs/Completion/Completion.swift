internal import ArgumentParser

/// `secretprefs completion`.
struct Completion: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Writes a completion script for a shell.",
    usage: "secretprefs completion [--json] (bash | zsh | fish)",
    discussion: """
      The script completes commands, options, files, settings and the ids of slots. Keys, services and access groups \
      have sealed names: they are completed only while the vault can be unlocked without a prompt, by --key-file on \
      the same line or by a configured source other than a program. Completion never prompts and never shows a value. \
      Names that begin with a dash, or contain characters that a shell expands or that mislead a reader, are left out.

      EXAMPLE:
        secretprefs completion bash > ~/.local/share/bash-completion/completions/secretprefs
        secretprefs completion zsh > ~/.zsh/completions/_secretprefs
        secretprefs completion fish > ~/.config/fish/completions/secretprefs.fish
      """)

  @Flag(help: .json)
  var json = false

  @Argument(
    help: ArgumentHelp("The shell: bash, zsh or fish.", valueName: "shell"),
    completion: .list(CompletionShell.allCases.map(\.rawValue)))
  var shells: [String] = []

  func perform(_ messages: Messages) throws {
    guard let shell = CompletionShell(rawValue: try Self.sole(shells, "shell")) else {
      throw Self.usageError("there is no completion for this shell")
    }
    let generated = Root.completionScript(for: shell)
    let script =
      switch shell {
      case .bash: generated + BashCompletion.addition
      case .zsh: ZshCompletion.script(generated)
      default: generated
      }
    guard json else { return try Output.write(script + "\n") }
    try Output.write(.object([("shell", .string(shell.rawValue)), ("script", .string(script + "\n"))]))
  }
}
