import Foundation
import Testing

/// `requests grant` on a terminal.
struct RequestTests {
  /// A vault of a key file, with a request, and a terminal.
  private struct Scene {
    let home: Scratch
    let terminal: PseudoTerminal
    let publicKey: String

    init() throws {
      home = try Scratch()
      terminal = try PseudoTerminal()
      // The file says more than "requests add" accepts as a note.
      let made = try Tool.shell(
        """
        secretprefs init --key-file k && secretprefs identity new web1 > public
        secretprefs requests add --identity web1
        printf 'web1 \\342\\200\\256 rack\\n' >> .local/share/secretprefs/default.spv.requests/$(cut -d : -f 2 public)
        """, in: home)
      publicKey = made.text.split(separator: "\n").last.map(String.init) ?? ""
      try #require(publicKey.hasPrefix("spv-public-1:"), "\(made.errorText)")
    }

    func grant(_ answer: String) throws -> Tool.Outcome {
      let digits = String(publicKey.dropFirst("spv-public-1:".count).prefix(8))
      let running = try Running(
        [Tool.path, "requests", "grant", digits, "--for-group", "default", "--key-file", "k"], in: home,
        input: terminal.path)
      try terminal.wait(for: "[yes/no]")
      terminal.type(answer + "\n")
      return try running.wait()
    }

    var slots: Int {
      get throws { try Tool.shell("secretprefs slots --key-file k", in: home).text.split(separator: "\n").count }
    }

    var requests: [String] {
      get throws {
        try FileManager.default.contentsOfDirectory(
          atPath: home.file(".local/share/secretprefs/default.spv.requests"))
      }
    }
  }

  @Test func `the question shows all digits of the public key, and the note with what would mislead`() throws {
    let scene = try Scene()
    let outcome = try scene.grant("no")
    #expect(outcome.exit == 1)
    #expect(outcome.errorText.contains("not confirmed"))
    scene.terminal.look()
    #expect(scene.terminal.shown.contains(scene.publicKey))
    #expect(scene.terminal.shown.contains("note: web1 \\u{202E} rack"))
    #expect(try scene.slots == 1)
    #expect(try scene.requests.count == 1)
  }

  @Test func `after yes the identity has access, and the request is gone`() throws {
    let scene = try Scene()
    let outcome = try scene.grant("yes")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.hasPrefix("spv-vault-1:"))
    #expect(try scene.slots == 2)
    #expect(try scene.requests.isEmpty)
  }

  @Test func `a holder whose slots were kept opens all of them with the pin of its next grant, and the owner is told`()
    throws
  {
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k; public=$(cat public)
      secretprefs groups create one; secretprefs groups create two
      secretprefs slots add --for-group one --public-key $public > pin 2> note
      secretprefs rotate --vault-keys --keep-holders 2> warning
      secretprefs groups --identity web1 --trust "$(cat pin)" | cut -d ' ' -f 1
      secretprefs requests grant $public --for-group two --yes > new 2> warning
      grep -c 'the holder has slots that opened with a former pin: all of its slots now need this one' warning
      secretprefs groups --identity web1 --trust "$(cat pin)"; echo $?
      secretprefs groups --identity web1 --trust "$(cat new)" | cut -d ' ' -f 1
      secretprefs slots add --for-group default --public-key $public > pin 2> note; cmp pin new; wc -l < note
      """, in: Scene().home)
    #expect(outcome.text == "one\n1\n77\none\ntwo\n1\n", "\(outcome.errorText)")
  }

  @Test func `a request that cannot be removed is granted all the same, with a warning`() throws {
    let scene = try Scene()
    // Root may remove a file from any folder, unless that right is taken away.
    let outcome = try Tool.shell(
      """
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-dac_override"
      chmod 500 .local/share/secretprefs/default.spv.requests
      $drop secretprefs requests grant "$(cat public)" --owner --yes --key-file k
      status=$?
      chmod 700 .local/share/secretprefs/default.spv.requests
      exit $status
      """, in: scene.home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.errorText.contains("warning: access is granted, but the request remains: "))
    #expect(try scene.slots == 2)
    #expect(try scene.requests.count == 1)
  }

  @Test func `in a folder that cannot be listed a request is replaced and removed by its public key`() throws {
    // Root may list any folder, unless that right is taken away.
    let outcome = try Tool.shell(
      """
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-dac_override,-dac_read_search"
      mkdir -m 1333 r; key=$(secretprefs identity new id); digits=${key#*:}
      for note in one two; do $drop secretprefs requests add --identity id --note $note --folder r > added || exit; done
      tail -n 1 r/$digits
      $drop secretprefs requests remove $(echo $digits | cut -c 1-8) --folder r; echo $?
      for again in 1 2; do $drop secretprefs requests remove $key --folder r; echo $?; done
      [ -e r/$digits ] || echo gone
      """, in: try Scratch())
    #expect(outcome.text == "two\n74\n0\n1\ngone\n", "\(outcome.errorText)")
  }
}
