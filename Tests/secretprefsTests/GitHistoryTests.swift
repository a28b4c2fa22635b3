import Foundation
import Testing

/// Repositories that somebody else has prepared.
struct GitHistoryTests {
  /// The start of a script: the repository `r` with a missing object, as a partial clone has, the program `p` that
  /// leaves the file `ran`, and a git that traces what it runs, without the variable that later versions have against
  /// fetching.
  private static let prepared = """
    export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
    git init -q -b main r; cd r
    echo one >file; git add .; git commit -qm one; echo CANARY-7f3a >other; git add .; git commit -qm two
    object=$(git rev-parse HEAD:file)
    rm -f .git/objects/$(echo $object | cut -c1-2)/$(echo $object | cut -c3-)
    git config core.repositoryFormatVersion 1
    git config extensions.partialClone origin; git config remote.origin.promisor true
    P=$HOME/p; printf '#!/bin/sh\\necho "$@" >>%s/ran\\nexit 1\\n' "$HOME" >$P; chmod +x $P
    mkdir $HOME/bin
    printf '#!/bin/sh\\nunset GIT_NO_LAZY_FETCH\\nGIT_TRACE=%s exec %s "$@"\\n' "$HOME/trace" "$(command -v git)" >$HOME/bin/git
    chmod +x $HOME/bin/git; export PATH=$HOME/bin:$PATH

    """

  @Test(
    .enabled(if: HelperScene.hasGit),
    arguments: [
      "git config remote.origin.url \"ext::$P\"; git config protocol.ext.allow always",
      "git init -q --bare ../e; git config remote.origin.url $HOME/e; git config remote.origin.uploadpack $P",
      "git config remote.origin.url ssh://h/x; git config core.sshCommand $P",
      "git config remote.origin.url ssh://h/x; export GIT_SSH=$P GIT_ALLOW_PROTOCOL=ssh",
      "git config remote.origin.url git://127.0.0.1/x; git config core.gitProxy $P",
      "git config remote.origin.url http://127.0.0.1:1/x; git config credential.helper \"!$P\"",
      "cp $P $HOME/bin/git-remote-x; git config remote.origin.url x; git config remote.origin.vcs x",
      "git config remote.origin.url x; git config core.fsmonitor $P",
      "git config remote.origin.url x; git config core.alternateRefsCommand $P; echo $PWD >.git/objects/info/alternates",
      "git config log.showSignature true; git config gpg.program $P",
      "git config core.pager $P; git config pager.log true; git config pager.cat-file true",
      "echo '* diff=x filter=x' >.gitattributes; git config diff.x.textconv $P; git config diff.x.command $P",
      "git config diff.external $P; git config filter.x.smudge $P",
      "mkdir $HOME/h; for h in reference-transaction post-checkout; do cp $P $HOME/h/$h; done; "
        + "git config core.hooksPath $HOME/h",
    ])
  func `a repository makes git start no program and reach no network`(_ settings: String) throws {
    let outcome = try Tool.shell(
      Self.prepared + """
        \(settings)
        cd ..; secretprefs scan --git r --key-file k >found 2>errors
        echo $?; grep -c :other: found; grep -c fetch trace; cat ran 2>/dev/null; cat errors >&2
        """, in: try RunTests.prepared())
    #expect(outcome.text == "1\n1\n0\n", "\(outcome.errorText)")
  }

  @Test(.enabled(if: HelperScene.hasGit), arguments: ["", "grafts", "order", "commit-graph"])
  func `no file of a repository hides a commit`(_ kind: String) throws {
    let outcome = try Tool.shell(
      """
      export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
      git init -q -b main r; cd r
      echo CANARY-7f3a >file; git add .; git commit -qm one
      echo two >file; git commit -qam two; echo three >file; git commit -qam three
      case '\(kind)' in
      grafts) git rev-parse HEAD >.git/info/grafts ;;
      order) git config diff.orderFile none ;;
      commit-graph)
        git rev-parse HEAD >.git/info/grafts; git commit-graph write --reachable >../log 2>&1
        rm .git/info/grafts ;;
      esac
      cd ..; secretprefs scan --git r --key-file k 2>errors | sed 's/^[0-9a-f]*//'
      """, in: try RunTests.prepared())
    #expect(outcome.text == ":file:1:1: default/token (plain)\n", "\(outcome.errorText)")
  }

  /// The start of a script: the repository `r` with one commit.
  private static let repository = """
    export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
    git init -q -b main r; cd r; echo one >file; git add .; git commit -qm one

    """

  @Test(.enabled(if: HelperScene.hasGit), arguments: ["", "/sub"])
  func `every stash and tag is searched, and what a tag names without a commit`(_ folder: String) throws {
    let outcome = try Tool.shell(
      Self.repository + """
        for i in a bb ccc; do echo "$i CANARY-7f3a" >file; git stash -q; done
        git tag -am 'one CANARY-7f3a' one; git tag -am 'gone CANARY-7f3a' two one 2>/dev/null
        git tag -am three three two 2>/dev/null; git tag -d two >/dev/null
        git tag blob $(echo 'blob CANARY-7f3a' | git hash-object -w --stdin)
        git tag -am tagged tagged $(echo 'tagged CANARY-7f3a' | git hash-object -w --stdin)
        mkdir sub; echo 'tree CANARY-7f3a' >sub/x; git add sub
        git tag tree $(git write-tree); git rm -qrf --cached sub
        cd ..; secretprefs scan --git r\(folder) --key-file k 2>errors | sed 's/^[0-9a-f]*:/commit:/'
        """, in: try RunTests.prepared())
    #expect(
      outcome.text.split(separator: "\n").sorted() == [
        "commit:file:1:3: default/token (plain)", "commit:file:1:4: default/token (plain)",
        "commit:file:1:5: default/token (plain)", "refs/tags/blob:1:6: default/token (plain)",
        "refs/tags/one:6:5: default/token (plain)", "refs/tags/tagged:1:8: default/token (plain)",
        "refs/tags/three:6:6: default/token (plain)", "refs/tags/tree:sub/x:1:6: default/token (plain)",
      ])
  }

  @Test(.enabled(if: HelperScene.hasGit))
  func `names of files and references are searched, and none shows a value`() throws {
    let outcome = try Tool.shell(
      Self.repository + """
        mkdir CANARY-7f3a; echo x >CANARY-7f3a/x; echo y >CANARY-7f3a/y
        echo 'a CANARY-7f3a' >"$(printf '\\377')"; git add .; git commit -qm two
        git mv file new-CANARY-7f3a; git commit -qm three; git branch fix/CANARY-7f3a
        cd ..; secretprefs scan --git r --key-file k 2>errors | sed 's/^[0-9a-f]*:/commit:/'
        """, in: try RunTests.prepared())
    #expect(
      outcome.text == """
        commit:\\xFF:1:3: default/token (plain)
        commit:***: in the name: default/token (plain)
        commit:***: in the name: default/token (plain)
        refs/heads/fix/***: in the name: default/token (plain)

        """)
  }

  @Test(.enabled(if: HelperScene.hasGit))
  func `a shallow clone is named in a warning`() throws {
    let outcome = try Tool.shell(
      Self.repository + """
        echo two >file; git commit -qam two; cd ..; git clone -q --depth 1 file://$PWD/r c
        secretprefs scan --git r --key-file k && secretprefs scan --git c --key-file k
        """, in: try RunTests.prepared())
    #expect(outcome.exit == 0)
    #expect(
      outcome.errorText
        == "secretprefs: warning: c: only a part of the history is searched, because the clone is shallow\n")
  }
}
