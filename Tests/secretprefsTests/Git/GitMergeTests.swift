import Testing

/// What `git-merge` says of files that are no whole vaults.
struct GitMergeTests {
  private static let names = [
    "base": "the common ancestor", "ours": "the version of the current branch (ours)",
    "theirs": "the version of the other branch (theirs)",
  ]

  private static let prelude =
    "secretprefs init --vault v.spv --key-file k || exit 99; export SECRETPREFS_KEY_FILE=k; "

  @Test(
    arguments: ["git-textconv v.spv", "git-merge v.spv v.spv v.spv"],
    ["--vault v.spv", "--mark m", "--shared", "--logs d", "--lock-timeout 1"])
  func `what says where a vault is, and a mark, are no options for the versions that git has`(
    _ command: String, _ option: String
  ) throws {
    let outcome = try Tool.shell(Self.prelude + "secretprefs \(command) \(option)", in: try Scratch())
    #expect(outcome.exit == 64)
    let (name, words) = (option.prefix { $0 != " " }, command.prefix { $0 != " " })
    #expect(
      outcome.errorText.hasPrefix("secretprefs: error: \(name) is no option of \"secretprefs \(words)\"\n"),
      "\(outcome.errorText)")
  }

  @Test func `the mark and the vault of the environment are not used for the versions that git has`() throws {
    let outcome = try Tool.shell(
      Self.prelude + """
        export SECRETPREFS_VAULT=absent.spv SECRETPREFS_MARK=absent
        secretprefs git-textconv v.spv && secretprefs git-merge v.spv v.spv v.spv
        """, in: try Scratch())
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains("group\tdefault\t"))
  }

  @Test(arguments: ["git-textconv absent", "git-merge absent v.spv v.spv", "git-merge v.spv v.spv absent"])
  func `a file that is missing has no hint about the vault of other commands`(_ command: String) throws {
    let outcome = try Tool.shell(Self.prelude + "secretprefs \(command)", in: try Scratch())
    #expect(outcome.exit == 1)
    #expect(outcome.errorText.contains("secretprefs: hint: name a file that exists; "), "\(outcome.errorText)")
    #expect(!outcome.errorText.contains("--vault"))
  }

  @Test(
    arguments: ["base", "ours", "theirs"],
    [
      ": > FILE", "printf 'a text' > FILE", "head -c 1000 v.spv > FILE", "truncate -s 2G FILE",
      "printf X | dd of=FILE bs=1 seek=50 conv=notrunc status=none",
    ])
  func `a broken file is named by its side, and no hint would change the vault of the user`(
    _ file: String, _ damage: String
  ) throws {
    // An empty ancestor is none: both sides have added the vault.
    guard file != "base" || damage != ": > FILE" else { return }
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k
      secretprefs init --key-file k && for copy in base ours theirs; do cp -p v.spv $copy; done || exit 99
      \(damage.replacing("FILE", with: file))
      exec secretprefs git-merge base ours theirs
      """, in: home)
    let name = try #require(Self.names[file])
    #expect(outcome.exit == 65)
    #expect(outcome.errorText.hasPrefix("secretprefs: error: \(name): "), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("secretprefs: hint: \"git merge --abort\" "))
    #expect(!outcome.errorText.contains(" salvage") && !outcome.errorText.contains(" restore"))
  }
}
