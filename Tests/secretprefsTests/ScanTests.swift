import Foundation
import Testing

@testable import secretprefs

struct ScanTests {
  private static func scan(_ line: String, in home: Scratch) throws -> Tool.Outcome {
    let outcome = try Tool.shell("umask 077; export SECRETPREFS_KEY_FILE=k\n" + line, in: home)
    #expect(!outcome.text.contains("CANARY-7f3a"))
    #expect(!outcome.errorText.contains("CANARY-7f3a"))
    return outcome
  }

  @Test func `what is not a regular file is left out below a directory, and read if it is named`() throws {
    let home = try RunTests.prepared()
    let prepare =
      "mkdir t; mkfifo t/pipe; echo CANARY-7f3a >secret; ln -s ../secret t/link; ln -s .. t/up; ln -s secret link\n"
    let tree = try Self.scan(prepare + "secretprefs scan t", in: home)
    #expect(tree.exit == 0, "\(tree.errorText)")
    #expect(tree.text.isEmpty)
    let named = try Self.scan("cat secret >t/pipe & secretprefs scan link t/pipe", in: home)
    #expect(named.text == "link:1:1: default/token (plain)\nt/pipe:1:1: default/token (plain)\n")
  }

  @Test func `a file that cannot be read is named, and the rest is searched`() throws {
    let home = try RunTests.prepared()
    let clean = try Self.scan("mkdir t; echo x >t/a; secretprefs scan t missing --json", in: home)
    #expect(clean.exit == 1)
    #expect(clean.text.contains(#""unreadable":["missing"]"#))
    #expect(clean.errorText.contains(#""code":"incomplete""#))
    let found = try Self.scan("echo CANARY-7f3a >t/b; secretprefs scan missing t", in: home)
    #expect(found.text == "t/b:1:1: default/token (plain)\n")
    #expect(found.errorText.hasPrefix("secretprefs: warning: missing cannot be searched: No such file or directory\n"))
  }

  @Test func `a name that is not UTF-8 or moves the cursor does no harm`() throws {
    let home = try RunTests.prepared()
    let outcome = try Self.scan(
      "mkdir t; for n in '\\377' '\\033[2J'; do echo CANARY-7f3a >\"t/$(printf \"$n\")\"; done; secretprefs scan t",
      in: home)
    #expect(outcome.text == "t/\\u{1B}[2J:1:1: default/token (plain)\nt/\\xFF:1:1: default/token (plain)\n")
  }

  @Test func `names and the targets of links are searched, and a path never shows a value`() throws {
    let home = try RunTests.prepared()
    let prepare = """
      printf 'CANARY-7f3a_a/b' | secretprefs set path
      mkdir -p t/CANARY-7f3a/sub t/CANARY-7f3a_a; echo x >t/CANARY-7f3a_a/b; ln -s a-CANARY-7f3a t/link
      echo CANARY-7f3a >t/CANARY-7f3a/sub/a; echo x >t/CANARY-7f3a/sub/b; mkfifo t/z-CANARY-7f3a.pipe

      """
    let tree = try Self.scan(prepare + "secretprefs scan t", in: home)
    #expect(
      tree.text == """
        t/***: in the name: default/token (plain)
        t/***/sub/a:1:1: default/token (plain)
        t/***: in the name: default/token (plain)
        t/***/***: in the name: default/path (plain)
        t/link:1:3: default/token (plain)
        t/***: in the name: default/token (plain)

        """, "\(tree.errorText)")
    #expect(tree.errorText.contains("found in 6 places"))
    let missing = try Self.scan("secretprefs scan CANARY-7f3a --json", in: home)
    #expect(missing.text.contains(#"{"path":"***","in":"name","group":"default","service":"default","key":"token""#))
    #expect(missing.text.contains(#""unreadable":["***"]"#))
    #expect(missing.errorText.contains("*** cannot be searched: No such file or directory"))
  }

  @Test func `in a git history, what was removed, a message, a merge and the stash are found once`() throws {
    let home = try RunTests.prepared()
    let outcome = try Self.scan(
      """
      exec 2>&1
      export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
      git init -q -b main r; cd r
      echo CANARY-7f3a >gone; echo x >file; git add .; git commit -qm one
      cp gone again; git add .; git rm -qf gone; git commit -qm 'two CANARY-7f3a'
      git checkout -qb other; echo other >file; git commit -qam three
      git checkout -q main; echo main >file; git commit -qam four
      git merge -q other >/dev/null 2>&1; printf 'a CANARY-7f3a' >file; git commit -qam five
      printf 'ab CANARY-7f3a' >file; git stash -q
      for c in $(git rev-list --all); do echo s/$c/$(git log -1 --format=%s $c | tr -cd a-z: )/; done >../names
      cd ..; secretprefs scan --git r | sed -f names; secretprefs scan r/file
      """, in: home)
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.filter { $0.contains("default/token") }.count == 5, "\(outcome.text)")
    #expect(lines.contains("one:gone:1:1: default/token (plain)"))
    #expect(lines.contains { $0.hasPrefix("two") && $0.hasSuffix(":5: default/token (plain)") })
    #expect(lines.contains("five:file:1:3: default/token (plain)"))
    #expect(lines.contains { $0.hasSuffix(":file:1:4: default/token (plain)") })
  }

  /// What would hide a file that only a merge has, or lead git to a different repository.
  @Test(arguments: [
    "export GIT_DIR=$PWD/empty/.git", "git config --global log.diffMerges off",
    "git config --global log.diffMerges combined", "git config --global diff.relative true; in=r/sub",
    "git -C r replace $merge $(git -C r rev-parse $merge^1)",
  ])
  func `neither variables nor settings of git hide a part of the history`(_ hidden: String) throws {
    let outcome = try Self.scan(
      """
      exec 2>&1
      export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
      git init -q -b main empty; git init -q -b main r; mkdir r/sub; cd r
      echo x >file; echo x >sub/file; git add .; git commit -qm one
      git checkout -qb other; echo other >file; git commit -qam two
      git checkout -q main; echo main >file; git commit -qam three
      git merge -q other >/dev/null 2>&1; printf 'a CANARY-7f3a' >file; git commit -qam four
      merge=$(git rev-parse HEAD); in=r; cd ..
      \(hidden)
      secretprefs scan --git $in 2>errors | sed s/$merge/four/
      """, in: try RunTests.prepared())
    #expect(outcome.text == "four:file:1:3: default/token (plain)\n")
  }

  @Test func `a service and a group limit the values, and others are not opened`() throws {
    let home = try RunTests.prepared()
    let outcome = try Self.scan(
      """
      secretprefs groups create ci
      printf OTHER-77777 | secretprefs set other --service shop --group ci
      echo CANARY-7f3a OTHER-77777 >text
      for o in '' '--service shop' '--group ci' '--service default' '--group ci --service none'; do
        secretprefs scan text $o; echo $?
      done
      """, in: home)
    #expect(
      outcome.text == """
        text:1:1: default/token (plain)
        text:1:13: ci/shop/other (plain)
        1
        text:1:13: ci/shop/other (plain)
        1
        text:1:13: ci/shop/other (plain)
        1
        text:1:1: default/token (plain)
        1
        1

        """)
  }

  @Test(arguments: [
    ("--match tokn", "no key matches the patterns"), ("--match token --match tokn", "no key matches --match tokn"),
    ("--except tokn", "no key matches --except tokn"), ("--service other --match token", "no key matches the patterns"),
  ])
  func `a pattern that no key matches is refused`(_ options: String, _ message: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Self.scan(
      "printf CANARY-7f3a | secretprefs set a --service other; echo x | secretprefs scan - \(options)", in: home)
    #expect(outcome.exit == 1)
    #expect(outcome.errorText.contains("error: \(message)\n"), "\(outcome.errorText)")
  }

  @Test func `a pattern is used if a key of any service matches it`() throws {
    let home = try RunTests.prepared()
    let outcome = try Self.scan(
      """
      printf CANARY-7f3a | secretprefs set a --service other
      echo CANARY-7f3a | secretprefs scan - --match token --match a --except 'b*'; echo $?
      echo CANARY-7f3a | secretprefs scan - --match token --match a --except token
      """, in: home)
    #expect(outcome.errorText.contains("no key matches --except"))
    #expect(outcome.text == "1\n-:1:1: other/a (plain)\n", "\(outcome.errorText)")
  }
}
