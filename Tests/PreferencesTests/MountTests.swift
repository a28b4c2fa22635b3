import Foundation
import PreferencesTestSupport
import Testing

/// A file system that is mounted over a folder on the way to a watched file, in a namespace of its own.
private enum Namespace {
  static let isAvailable = (try? run("mount --make-rprivate / && mount -t tmpfs none /mnt").exit) == 0

  static func run(_ script: String, _ arguments: [String] = []) throws -> (exit: Int32, lines: [String]) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = ["--mount", "sh", "-euc", script, "sh"] + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text.split(separator: "\n").map(String.init))
  }

}

struct MountTests {
  /// Mounts `other` over `shown`, and takes it away again, each time when the watcher has printed the text before.
  private static let script = """
    writer=$1 kind=$2 file=$3 from=$4 to=$5
    mount --make-rprivate /
    mkfifo "$from/texts"
    "$writer" watch "$kind" "$file" token > "$from/texts" &
    trap 'kill $!' EXIT
    exec 3< "$from/texts"
    read -r text <&3; echo "$text"
    mount --bind "$from" "$to"
    read -r text <&3; echo "$text"
    umount "$to"
    read -r text <&3; echo "$text"
    """

  @Test(
    .enabled(if: Namespace.isAvailable, "mounting needs root, and unshare(1)"), arguments: ["json", "plist", "env"],
    ["box", "box/inner"])
  func `a mount over a folder on the way to a watched file is noticed, and its end`(
    _ kind: String, _ mounted: String
  ) throws {
    try withTemporaryFolder { folder in
      for (root, text) in [("shown", "old"), ("other", "new")] {
        let inner = "\(folder)/\(root)/box/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let content =
          switch kind {
          case "json": #"{"token": "\#(text)"}"#
          case "plist": "<plist><dict><key>token</key><string>\(text)</string></dict></plist>"
          default: "token=\(text)\n"
          }
        try Data(content.utf8).write(to: URL(filePath: inner + "/file"))
      }
      let writer = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      let result = try Namespace.run(
        Self.script,
        [
          writer.path + "/PreferencesWriter", kind, "\(folder)/shown/box/inner/file", "\(folder)/other/\(mounted)",
          "\(folder)/shown/\(mounted)",
        ])
      #expect(result.lines == ["old", "new", "old"])
      #expect(result.exit == 0)
    }
  }
}
