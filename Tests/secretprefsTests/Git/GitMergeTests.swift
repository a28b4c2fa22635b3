import Testing

/// What `git-merge` says of files that are no whole vaults.
struct GitMergeTests {
  private static let names = [
    "base": "the common ancestor", "ours": "the version of the current branch (ours)",
    "theirs": "the version of the other branch (theirs)",
  ]

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
