import Foundation
import Testing

/// git itself with the helper. `Scripts/git-helper` also clones from a server.
@Suite(.enabled(if: HelperScene.hasGit)) struct GitTests {
  private let scene: HelperScene

  init() throws {
    scene = try HelperScene()
    try scene.home.writeProgram("#!/bin/sh\necho asked\n", to: "ask")
  }
}

extension GitTests {
  /// Runs `git credential`. git asks `ask` for what the helper does not have.
  private func git(_ operation: String, _ request: String, _ settings: String = "") throws -> Tool.Outcome {
    try scene.run(
      "GIT_ASKPASS=$PWD/ask git -c credential.helper=secretprefs \(settings) credential \(operation)",
      Array(request.utf8))
  }

  @Test func `git stores a password, gets it back and rejects it`() throws {
    let host = "protocol=https\nhost=a.example\n"
    #expect(try git("fill", host).text == host + "username=asked\npassword=asked\n")
    let stored = try git("approve", host + "username=me@x\npassword=p w\u{E9}=\n")
    #expect(stored.exit == 0 && stored.errors.isEmpty, "\(stored.errorText)")
    #expect(try git("fill", host).text == host + "username=me@x\npassword=p w\u{E9}=\n")
    #expect(try git("fill", "url=https://me%40x@a.example").text == host + "username=me@x\npassword=p w\u{E9}=\n")
    #expect(try git("fill", "url=http://a.example").text.hasSuffix("password=asked\n"))
    #expect(try git("fill", "url=https://b.example").text.hasSuffix("password=asked\n"))
    #expect(try git("fill", host + "username=other\n").text == host + "username=other\npassword=asked\n")
    #expect(try git("reject", host + "username=me@x\npassword=else\n").exit == 0)
    #expect(try git("fill", host).text.hasSuffix("password=p w\u{E9}=\n"))
    #expect(try git("reject", host).exit == 0)
    #expect(try git("fill", host).text.hasSuffix("password=asked\n"))
  }

  @Test func `git keeps several users apart, and an empty one`() throws {
    let host = "protocol=https\nhost=a.example\n"
    for user in ["u", "v", ""] {
      #expect(try git("approve", host + "username=\(user)\npassword=of \(user)\n").exit == 0)
    }
    for user in ["u", "v"] {
      let login = host + "username=\(user)\n"
      #expect(try git("fill", login).text == login + "password=of \(user)\n")
    }
    #expect(try git("reject", host + "username=u\n").exit == 0)
    #expect(try scene.texts("git") == ["https://v@a.example": "of v", "https://@a.example": "of "])
  }

  @Test func `git's setting useHttpPath keeps repositories apart`() throws {
    let setting = "-c credential.useHttpPath=true"
    let login = "protocol=https\nhost=a.example\npath=foo.git\nusername=u\npassword=p\n"
    #expect(try git("approve", login, setting).exit == 0)
    #expect(try git("fill", "url=https://a.example/foo.git", setting).text == login)
    #expect(try git("fill", "url=https://a.example/bar.git", setting).text.hasSuffix("password=asked\n"))
  }

  @Test func `git asks its user if the vault is locked, and shows why`() throws {
    let outcome = try scene.run(
      """
      unset SECRETPREFS_KEY_FILE
      GIT_ASKPASS=$PWD/ask git -c credential.helper=secretprefs credential fill
      """, Array("protocol=https\nhost=a.example\n".utf8))
    #expect(outcome.exit == 0)
    #expect(outcome.text.hasSuffix("username=asked\npassword=asked\n"))
    #expect(outcome.errorText.contains("secretprefs: error: "))
  }

  @Test func `the settings of a project and variables for other programs do not move the passwords`() throws {
    let prepared = try scene.run(
      """
      set -e
      mkdir team; cp v.spv before; cp v.spv team; cd team
      secretprefs config set vault "$HOME/v.spv"
      secretprefs config set --project vault v.spv
      secretprefs config set --project group ops
      """)
    try #require(prepared.exit == 0, "\(prepared.errorText)")
    func inTeam(_ operation: String, _ request: String) throws -> Tool.Outcome {
      try scene.run(
        """
        unset SECRETPREFS_VAULT; cd team
        export SECRETPREFS_KEY_FILE=$HOME/k SECRETPREFS_GROUP=ops SECRETPREFS_SERVICE=shop GIT_ASKPASS=$HOME/ask
        git -c credential.helper=secretprefs credential \(operation)
        """, Array(request.utf8))
    }
    let login = "protocol=https\nhost=a.example\nusername=u\npassword=p\n"
    let stored = try inTeam("approve", login)
    #expect(stored.exit == 0 && stored.errors.isEmpty, "\(stored.errorText)")
    #expect(try inTeam("fill", "protocol=https\nhost=a.example\n").text == login)
    #expect(try scene.texts("git") == ["https://u@a.example": "p"])
    #expect(try scene.run("cmp before team/v.spv").exit == 0)
  }

  @Test func `git gives the helper options, and starts it by its path`() throws {
    try scene.home.write("[credential]\n\thelper = \"\(Tool.path) git-credential --service work\"\n", to: ".gitconfig")
    let stored = try scene.run(
      "git credential approve", Array("protocol=https\nhost=a.example\nusername=u\npassword=p\n".utf8))
    #expect(stored.exit == 0 && stored.errors.isEmpty, "\(stored.errorText)")
    #expect(try scene.texts("work") == ["https://u@a.example": "p"])
  }
}
