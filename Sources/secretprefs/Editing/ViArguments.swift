internal import DurableFiles
internal import VaultCore

/// Arguments with which vi, vim and nvim write nothing but the file: no viminfo or shada, swap, undo and backup files.
/// If an autocommand of the user switches one of the last three on again, it is beside the file.
enum ViArguments {
  private static let settings =
    "silent! set nobackup nowritebackup noswapfile backupdir=. directory=. patchmode= viminfo= "
    + "| silent! set undodir=. noundofile | silent! set shada="

  /// Programs that start the one in their arguments.
  private static let starters = [
    "env", "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "time", "timeout", "sudo", "doas",
    "unshare", "bwrap", "firejail", "prlimit", "flock",
  ]

  /// The words of an editor with these arguments, if it is one of these.
  static func adding(to words: [String]) -> [String] {
    // "env NAME=value vim" and "nice -n 5 vim" run vim.
    let isStarter = starters.contains(PathName.last(of: words[0]))
    guard let index = isStarter ? words.indices.dropFirst().first(where: { isVim(words[$0]) }) : 0, isVim(words[index])
    else { return words }
    // Before the user's configuration is read, so that nothing is written meanwhile, and again after it.
    var arguments = ["-n", "-i", "NONE", "--cmd", settings, "-c", settings]
    // Otherwise it ends at once, and edits a file that is gone.
    if ["gvim", "gview", "mvim", "evim"].contains(PathName.last(of: words[index])) { arguments.append("-f") }
    return words[...index] + arguments + words[(index + 1)...]
  }

  private static func isVim(_ program: String) -> Bool {
    let names = [program, path(of: program).flatMap(PathName.resolved)].compactMap(\.self).map(PathName.last)
    if names.contains("busybox") { return false }  // its vi writes only the file
    if names.contains(where: { name in
      ["vim", "nvim", "gvim", "mvim", "rvim", "evim", "gview", "rview"].contains { name.hasPrefix($0) }
    }) {
      return true
    }
    return names.contains { ["vi", "view", "ex"].contains($0) } && saysVim(program)
  }

  /// Where the program is found, as a shell looks for it.
  private static func path(of program: String) -> String? {
    guard !program.utf8.contains(UInt8(ascii: "/")) else { return program }
    let folders = getenv("PATH").flatMap { String(validatingCString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":", omittingEmptySubsequences: false)
      .map { ($0.isEmpty ? "." : $0) + "/" + program }.first { access($0, X_OK) == 0 }
  }

  /// Whether a program called vi says that it is vim. Others refuse the option.
  private static func saysVim(_ program: String) -> Bool {
    do throws(VaultError) {
      let child = try OtherProgram("vi", [program, "--version"], isQuiet: true)
      var start = [UInt8](repeating: 0, count: 200)
      var count = 0
      while count < start.count {
        let room = start.count - count
        let read = start.withUnsafeMutableBytes { start in
          retrying { DurableFiles.read(child.output, start.baseAddress! + count, room) }
        }
        guard read > 0 else { break }
        count += read
      }
      _ = try child.end()
      return String(decoding: start[..<count], as: UTF8.self).uppercased().contains("VIM")
    } catch { return false }
  }
}
