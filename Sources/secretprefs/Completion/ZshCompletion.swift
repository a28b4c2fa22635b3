/// The completion script for zsh: what the argument parser generates, in which an option also has its value behind an
/// equals sign, and the command that follows other arguments is completed as on a line of its own.
enum ZshCompletion {
  static func script(_ generated: String) -> String {
    generated.split(separator: "\n", omittingEmptySubsequences: false).map(line).joined(separator: "\n")
  }

  private static func line(_ line: Substring) -> String {
    let specification = line.drop { $0 == " " }
    if specification == "'*:command:'" { return "\(line[..<specification.startIndex])'*:::command:_normal'" }
    // A colon of a help text has a backslash in front.
    guard specification.hasPrefix("'--") || specification.hasPrefix("'*--"), specification.contains("]:"),
      let help = specification.firstIndex(of: "[")
    else { return String(line) }
    return "\(line[..<help])=\(line[help...])"
  }
}
