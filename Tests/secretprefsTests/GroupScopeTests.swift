import Foundation
import Testing

/// Commands over several access groups.
struct GroupScopeTests {
  @Test(arguments: ["list", "find a", "scan key", "export", "remove --match '*' --yes"])
  func `a command over all groups names the group that does not verify, and changes nothing`(
    _ command: String
  ) throws {
    let home = try Scratch()
    let vectors = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "VaultCoreTests/Vectors/tampered-entry.spv")
    try FileManager.default.copyItem(at: vectors, to: URL(filePath: home.file("v.spv")))
    try home.write("spv-key-1:9ced69111d98612e7f1545e02b0d876abf4602997baf8e94628f814a47130593\n", to: "key")
    let outcome = try Tool.shell(
      "chmod 600 v.spv key; cp v.spv before; secretprefs \(command) --all-services --all-groups --vault v.spv "
        + "--key-file key; code=$?; cmp v.spv before || exit 99; exit $code", in: home)
    #expect(outcome.exit == 76, "\(outcome.errorText)")
    #expect(outcome.errorText.contains("access group ci: a journal entry does not verify"), "\(outcome.errorText)")
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: [false, true])
  func `keys are removed by pattern after a yes, but not if one was changed after its name was shown`(
    isChanged: Bool
  ) throws {
    let scene = try PromptTests.Scene()
    let key = "--passphrase-fd 3 3< passphrase"
    let removal = try Running(
      ["/bin/sh", "-c", "exec secretprefs remove --match 'k*' --all-services --all-groups \(key)"], in: scene.home,
      input: scene.terminal.path)
    try scene.terminal.wait(for: "Remove 1 key: default default key? [yes/no] ")
    if isChanged {
      let changed = try Tool.shell("printf changed | secretprefs set key \(key)", in: scene.home)
      #expect(changed.exit == 0, "\(changed.errorText)")
    }
    scene.terminal.type("yes\n")
    let outcome = try removal.wait()
    #expect(outcome.exit == (isChanged ? 1 : 0))
    #expect(outcome.errorText.contains("another process changed one of the keys in the meantime") == isChanged)
    let found = try Tool.shell("secretprefs list \(key); secretprefs history removed \(key)", in: scene.home).text
    #expect(isChanged ? found == "key\n" : found.hasPrefix("key  removed "), "\(found)")
  }
}
