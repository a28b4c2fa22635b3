import Foundation
import Testing

/// `export --format archive`, and what `import` makes of it.
struct ArchiveTests {
  @Test func `an archive that is imported into an empty vault is exported as it was`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a export --format archive --to a.json; test $(stat -c %a a.json) = 600
      b import a.json > report; b export --format archive > b.json
      strip a.json > a; strip b.json > b; cmp a b
      b import - --format archive --on-conflict skip < a.json | head -1
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let report = try String(contentsOfFile: scene.home.file("report"), encoding: .utf8)
    #expect(report.contains("access groups: Löhne \"x\" (new), default, ops (new)\n"), "\(report)")
    #expect(report.contains("note: the keys keep their times and get the revision of this import\n"))
    #expect(!report.contains("not imported"))
    // The journal does not have all of it.
    #expect(report.contains("the import into the access group ops is larger than the journal"))
  }

  @Test func `a removed key comes back with its value, its metadata and its earlier values`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a export --format archive --to a.json; b import a.json > report
      b get removed --service described && exit 9
      b history restore removed --service described
      b get removed --service described; echo; b info removed --service described | grep -c -e label -e attribute
      b history removed --service described | cut -d ' ' -f 1
      b get kept --service described --revision $(b history kept --service described | awk 'NR == 2 {print $1}')
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "\"2\"\n4\ngone\n\"9\"")
  }

  @Test func `a removed key with a full history comes back with its history depth`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      for value in 1 2 3 4; do printf $value | a set full --service s; done; a remove full --service s
      a export --format archive --to a.json; b import a.json > report
      b history restore full --service s; b history full --service s | wc -l; b info full --service s | grep keeps
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "4\nkeeps       3 earlier values\n")
  }

  @Test func `all keys go into the group and the service that options name, if their names differ`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      printf x | a set plain --service other; a export --format archive --to a.json
      b import a.json --group default 2> error && exit 9; grep -q 'the same key as in line' error
      b import a.json --service one 2> error && exit 9; grep -q 'the same key as in line' error
      test -z "$(b list --all-services)"
      b import a.json --group default --skip | head -1 | grep -o '^[0-9]* keys imported'; b groups | wc -l
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let count = ArchiveScene.kinds.count + ArchiveScene.names.count + 3
    #expect(outcome.text == "\(count) keys imported\n1\n")
  }

  @Test func `a holder of one group exports and imports that group, and is warned of what is missing`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a slots add --for-group ops --new-key-file ops.key > /dev/null; b groups create ops
      b slots add --for-group ops --new-key-file b-ops.key > /dev/null
      a export --format archive --to ops.json --key-file ops.key 2> warnings
      grep -c 'warning: not in the archive: access group with the id' warnings; grep -c groupNotGranted ops.json
      b import ops.json --key-file b-ops.key | grep -c 'not imported: .*access group'
      a export --format archive --to a.json
      b import a.json --key-file b-ops.key --on-conflict replace | grep 'cannot create'
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let count = ArchiveScene.kinds.count + ArchiveScene.names.count + 4
    let refused = "the credential does not open it and cannot create it: \(count) keys"
    #expect(
      outcome.text == """
        2
        1
        2
        not imported: access group Löhne "x": \(refused)
        not imported: access group default: \(refused)

        """)
  }

  @Test func `a value without its device key is named, and the rest is in the archive`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a new-key device > /dev/null
      printf old | a set bound --service s --accessibility whenUnlockedThisDeviceOnly --device-key-file device
      printf new | a set bound --service s --device-key-file device
      code=0; a export --format archive --to a.json 2> errors || code=$?; echo $code; cat errors
      b import a.json | grep -e '^not imported: ' -e imported,; b list --service s
      a export --format archive --to all.json --device-key-file device
      code=0; b import all.json --on-conflict skip 2> errors || code=$?; echo $code
      b import all.json --on-conflict skip --device-key-file device > report; b get bound --service s --device-key-file device
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.first == "77", "\(outcome.text)")
    #expect(outcome.text.contains("warning: not in the archive: secret://s/bound: "))
    #expect(outcome.text.contains("error: the archive is written without what does not open: "))
    #expect(outcome.text.contains(", bound: its value did not open when the archive was written\n"))
    #expect(lines.last == "new")
  }

  @Test func `a group that does not verify is named, and the others are in the archive`() throws {
    let home = try Scratch()
    let vectors = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "VaultCoreTests/Vectors/tampered-entry.spv")
    try FileManager.default.copyItem(at: vectors, to: URL(filePath: home.file("v.spv")))
    try home.write("spv-key-1:9ced69111d98612e7f1545e02b0d876abf4602997baf8e94628f814a47130593\n", to: "key")
    let outcome = try Tool.shell(
      "chmod 600 v.spv key; secretprefs export --format archive --vault v.spv --key-file key", in: home)
    #expect(outcome.exit == 76)
    #expect(outcome.errorText.contains("warning: not in the archive: access group ci: a journal entry does not verify"))
    #expect(outcome.text.contains("{\"group\":\"default\",\"records\":["))
    #expect(outcome.text.hasSuffix("\"unopened\":[{\"group\":\"ci\",\"reason\":\"tampered\"}]}\n"))
  }

  @Test func `an archive is written to a terminal only on request`() throws {
    let scene = try PromptTests.Scene()
    let key = "--passphrase-fd 3 3< passphrase"
    let refused = try Tool.shell(
      "secretprefs export --format archive \(key) > \(scene.terminal.path)", in: scene.home)
    #expect(refused.exit == 64)
    #expect(refused.errorText.contains("is not written to a terminal"))
    let hint = "--to <file> writes it to a new file, and --to-terminal to the terminal"
    #expect(refused.errorText.contains(hint))
    let written = try Tool.shell(
      "secretprefs export --format archive --to-terminal \(key) > \(scene.terminal.path)", in: scene.home)
    #expect(written.exit == 0, "\(written.errorText)")
    try scene.terminal.wait(for: "\"unopened\":[]}")
    #expect(scene.terminal.shown.contains("\"value\":\"s3cret\""))
  }

  @Test func `a removed key whose time is over, or whose name has a key, is left out and named`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a export --format archive | sed 's/"keptUntil":"[^"]*"/"keptUntil":"2020-01-01T00:00:00.000Z"/' > old.json
      b import old.json | grep -c 'a removed key that was kept until 2020-01-01T00:00:00.000Z'
      a export --format archive --to a.json; printf mine | b set gone --service described
      b import a.json --on-conflict replace | grep 'has a key of this name' | cut -d , -f 2-; b get gone --service described
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "6\n gone: a removed key, and the vault has a key of this name\nmine")
  }

  @Test func `an import that was interrupted before a removal goes on, and a key of another time stays`() throws {
    let scene = try ExchangeScene()
    let record =
      #"{"service":"s","key":"b","created":"1 ms","modified":"2 ms","kind":"string","value":"x","previous":[]}"#
    let removed =
      #"{"service":"s","key":"b","created":"1 ms","removed":"3 ms","keptUntil":"99999999999999 ms","#
      + #""previous":[{"revision":1,"modified":"2 ms","kind":"string","value":"x"}]}"#
    for (name, records, rest) in [("half.json", record, ""), ("whole.json", "", removed)] {
      let text =
        #"{"format":"secretprefs-archive","version":1,"groups":[{"group":"default","records":["# + records
        + #"],"removed":["# + rest + "]}]}"
      try scene.write(Array(text.utf8), to: name)
    }
    let outcome = try scene.shell(
      """
      secretprefs import half.json > report; secretprefs get b --service s; echo
      secretprefs import whole.json 2>&1 | grep -c 'has a key of this name'
      secretprefs import whole.json --on-conflict replace | head -1; secretprefs list --service s
      secretprefs history removed --service s | cut -d ' ' -f 1-4
      printf new | secretprefs set b --service s
      secretprefs import whole.json --on-conflict replace 2>&1 | grep -c 'has a key of this name'
      secretprefs get b --service s
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      outcome.text == "x\n1\n0 keys imported, 1 removed key, service s\nb  removed 1970-01-01T00:00:00.003Z\n1\nnew")
  }
}
