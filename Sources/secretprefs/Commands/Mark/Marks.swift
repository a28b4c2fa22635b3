internal import ArgumentParser

/// `secretprefs mark`.
struct Marks: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "mark",
    abstract: "Shows, creates and resets the vault's rollback mark.",
    discussion: """
      A mark is a file that records the newest known state of a vault. Every command with a mark refuses a vault that \
      is older, which detects an older copy in place of the vault, and then raises the mark; only "git-textconv" and \
      "git-merge" do not use it, because the versions that git has are older by their nature. A mark contains no \
      secrets, but proves nothing if a process that can replace the vault can also replace the mark: keep it on a \
      different disk or machine. All writers should use the mark, because writes that do not raise it can be undone \
      without detection. If reads are logged, the mark also has the newest event of each log, so that a log that was \
      put back, cut off or removed is refused; a read raises that at most once a second.

      EXAMPLE:
        secretprefs mark init --mark /var/lib/marks/shop
        SECRETPREFS_MARK=/var/lib/marks/shop secretprefs get github
      """,
    subcommands: [ShowMark.self, InitMark.self, AcceptMark.self],
    defaultSubcommand: ShowMark.self)
}
