import Foundation
import Preferences
import Testing
import VaultCore

@testable import secretprefs

struct InjectTests {
  @Test func `all bytes outside of references pass`() throws {
    let home = try RunTests.prepared()
    var (template, expected) = (Data(), Data())
    for first in UInt8.min...UInt8.max {
      let text = Data([first, 0x7B, first, 0x7B, 0x7B, first, 0x7D, 0x7D])
      template += text + Data("{{secret://default/token}}".utf8)
      expected += text + Data("CANARY-7f3a".utf8)
    }
    try template.write(to: URL(filePath: home.file("template")))
    let outcome = try Tool.run(["inject", "--in", "template", "--key-file", "k"], in: home)
    #expect(outcome.output == expected)
    #expect(outcome.errorText.isEmpty)
  }

  @Test func `values of any text and length arrive unchanged`() throws {
    let home = try RunTests.prepared()
    let values = ["{{ secret://default/token }}", "a\0b\r\n", "ü\u{1F600}", String(repeating: "long", count: 100_000)]
    for (index, value) in values.enumerated() {
      try home.write(value, to: "value")
      let stored = try Tool.run(["set", "v\(index)", "--exact", "--file", "value", "--key-file", "k"], in: home)
      try #require(stored.exit == 0)
    }
    try home.write(values.indices.map { "{{ secret://default/v\($0) }}" }.joined(separator: "|"), to: "template")
    let outcome = try Tool.run(["inject", "--in", "template", "--key-file", "k"], in: home)
    #expect(outcome.output == Data(values.joined(separator: "|").utf8))
  }

  @Test(arguments: ["UTF-16LE", "UTF-16BE"], ["inject --in text", "check text", "run --env-file text -- true"])
  func `UTF-16, in which no reference would be found, is refused`(encoding: String, command: String) throws {
    let home = try RunTests.prepared()
    for text in [
      "\u{FEFF}A={{ secret://default/token }}\n", "\u{FEFF}A=x\n", "A={{ secret://default/token }}\n",
      "{{SECRET:/default/token}}", "A=secret://default/token\n",
    ] {
      try home.write(text, to: "utf-8")
      let outcome = try Tool.shell(
        "iconv -f UTF-8 -t \(encoding) utf-8 > text; SECRETPREFS_KEY_FILE=k secretprefs \(command)", in: home)
      #expect(outcome.exit == 65, "\(text)")
      #expect(outcome.output.isEmpty)
      #expect(outcome.errorText.contains("is UTF-16: convert it to UTF-8"), "\(text): \(outcome.errorText)")
    }
  }

  @Test func `references that do not end are read once, however many there are`() throws {
    let count = 200_000
    let text = Array(String(repeating: "{{secret://", count: count).utf8)
    var faults = 0
    try text.withUnsafeBytes { bytes in
      try Template.scan(bytes) { _ in
      } reference: { match in
        if case .failure(.braces) = match.result { faults += 1 }
      }
    }
    #expect(faults == count)
  }

  @Test(
    arguments: [
      ("{{ secret://s/a{b }}", .character), ("{{ secret://s/a{{b }}", .braces),
      ("{{ secret://s/a{{ secret://s/b }}", .braces),
    ] as [(String, SecretReference.Fault)])
  func `a brace in a reference is an error`(_ template: String, _ fault: SecretReference.Fault) throws {
    var faults: [SecretReference.Fault] = []
    try Array(template.utf8).withUnsafeBytes { bytes in
      try Template.scan(bytes) { _ in
      } reference: { match in
        if case .failure(let fault) = match.result { faults.append(fault) }
      }
    }
    #expect(faults == [fault])
  }

  @Test(arguments: [
    "{{\nsecret://default/token }}", "{{ \r\n secret://default/token }}", "{{ secret://default/token\n}}",
    "{{ secret://default/token \r\n }}", "{{\u{B}secret://default/token}}", "{{\n\"secret://default/token\" }}",
    "{{-\nsecret://default/token -}}",
  ])
  func `a reference that is not on the line of its braces is an error with its line`(_ reference: String) throws {
    let home = try RunTests.prepared()
    try home.write("a\n\(reference)\n{{ secret://default/token }}\n{{ secret://default }}\n", to: "template")
    let first = 2 + reference.utf8.prefix { $0 != UInt8(ascii: "s") }.count { $0 == 0x0A }
    let last = 4 + reference.utf8.count { $0 == 0x0A }
    for command in ["inject --in template", "check template"] {
      let outcome = try Tool.shell("SECRETPREFS_KEY_FILE=k secretprefs \(command)", in: home)
      let report = outcome.text + outcome.errorText
      #expect(outcome.exit == 65, "\(report)")
      #expect(!report.contains("CANARY"))
      for part in ["\(first): ", "it is not between {{ and }} on one line", "\(last): ", "it names no key"] {
        #expect(report.contains(part), "\(report)")
      }
    }
  }

  @Test func `a value is opened once, and none if a reference leads nowhere`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k; secretprefs audit on > on
      t='{{ secret://default/token }}'
      printf '%s\n{{ secret://a/b }}\n{{ secret://c }}\n' "$t" > bad
      printf '%s{{secret://default/token}}' "$t$t$t" > good
      secretprefs inject --in bad; secretprefs audit show | grep -c read; secretprefs inject --in good
      echo; secretprefs audit show | grep -c read
      """, in: home)
    #expect(outcome.text == "0\nCANARY-7f3aCANARY-7f3aCANARY-7f3aCANARY-7f3a\n1\n")
    #expect(outcome.errorText.contains("error: line 2, secret://a/b: "), "\(outcome.errorText)")
    #expect(outcome.errorText.contains(", line 3: malformed reference"), "\(outcome.errorText)")
  }

  @Test func `a template and an output that are too large for the memory are refused, and nothing is written`() throws {
    let home = try RunTests.prepared()
    let value = String(repeating: "v", count: 16 << 20)
    try home.write(value, to: "value")
    let stored = try Tool.run(["set", "v", "--exact", "--file", "value", "--key-file", "k"], in: home)
    try #require(stored.exit == 0, "\(stored.errorText)")
    func inject(_ template: String) throws -> Tool.Outcome {
      try home.write(template, to: "template")
      return try Tool.run(["inject", "--in", "template", "--out", "out", "--key-file", "k"], in: home)
    }
    let reference = "{{ secret://default/v }}"
    #expect(try inject(String(repeating: reference, count: 4)).exit == 0)
    #expect(try Data(contentsOf: URL(filePath: home.file("out"))).count == 64 << 20)
    try FileManager.default.removeItem(atPath: home.file("out"))

    for (template, message) in [
      (
        String(repeating: reference + "\n", count: 400_000),
        "line 4, secret://default/v: the output has more than 67108864 bytes"
      ),
      (String(repeating: reference, count: 4) + "\n", "the output has more than 67108864 bytes"),
      (value + "v", "template: the template has more than 16777216 bytes"),
    ] {
      let outcome = try inject(template)
      #expect(outcome.exit == 65)
      #expect(outcome.errorText == "secretprefs: error: \(message)\n")
      #expect(!FileManager.default.fileExists(atPath: home.file("out")))
    }
  }

  @Test func `names with any characters are reached by percent-encoding`() throws {
    let home = try RunTests.prepared()
    let key = "a/b c%ü{}\"\\日"
    try home.write("CANARY-7f3a", to: "value")
    let stored = try Tool.run(["set", "--file", "value", "--key-file", "k", "--service", "s/t", "--", key], in: home)
    try #require(stored.exit == 0, "\(stored.errorText)")
    let encoded = key.utf8.map { "%" + String($0, radix: 16) }.joined()
    try home.write(
      "{{secret://s%2ft/\(encoded)}}{{secret://s%2Ft/\(encoded.uppercased())?group=default}}", to: "template")
    let outcome = try Tool.run(["inject", "--in", "template", "--key-file", "k"], in: home)
    #expect(outcome.text == "CANARY-7f3aCANARY-7f3a", "\(outcome.errorText)")
  }

  @Test func `the file of --out is for its owner alone and leaves nothing beside it`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      umask 0
      echo '{{secret://default/token}}' >template
      mkdir d && echo old >d/old && chmod 666 d/old
      echo left >d/.new.new
      for name in new old; do secretprefs inject --in template --out d/$name --key-file k || exit; done
      stat -c '%n %a' d/*
      cat d/new d/old d/.new.new
      ls -A d
      """, in: home)
    #expect(
      outcome.text == "d/new 600\nd/old 600\nCANARY-7f3a\nCANARY-7f3a\nleft\n.new.new\nnew\nold\n",
      "\(outcome.errorText)")
  }

  @Test(
    arguments: [
      ("pass", "--in t --passphrase-fd 3 3< pass"), ("t", "< t"), ("pass", "--in t --passphrase-command 'cat pass'"),
      ("ask", "--in t --passphrase-command ./ask"), ("c/secret-preferences.passphrase", "--in t"),
      (".config/secretprefs/config", "--in t"), (".secretprefs", "--in t"),
    ] as [(String, String)])
  func `a file that the command reads is not replaced, under no name`(_ file: String, _ options: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      umask 077; export CREDENTIALS_DIRECTORY=c; mkdir -p c .config/secretprefs
      for read in pass t ask c/secret-preferences.passphrase .config/secretprefs/config .secretprefs; do
        echo 'service = default' > $read
      done
      ln \(file) link
      for out in \(file) link; do secretprefs inject --out $out \(options); echo $?; done; cat \(file)
      """, in: home)
    #expect(outcome.text == "64\n64\nservice = default\n", "\(outcome.errorText)")
    #expect(outcome.errorText.contains("link: --out would replace a file that this command reads"))
  }

  @Test func `a request for access is not replaced`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      echo text > t; secretprefs identity new id > public; secretprefs requests add --identity id > public
      request=.local/share/secretprefs/default.spv.requests/$(cut -d : -f 2 public)
      secretprefs inject --in t --out $request --key-file k; echo $?; cmp public $request
      """, in: home)
    #expect(outcome.text == "64\n", "\(outcome.errorText)")
    #expect(outcome.errorText.contains(": --out has a name that belongs to the vault\n"))
  }

  @Test(arguments: [
    "inject --in t --out ''", "export --to ''", "salvage --to ''", "bundle export --all --new-key-file n --to ''",
    "backup ''", "backup '' --keep 1",
  ])
  func `an empty path of an output is refused as such`(_ command: String) throws {
    let home = try RunTests.prepared()
    try home.write("text", to: "t")
    let outcome = try Tool.shell("secretprefs \(command) --key-file k", in: home)
    #expect(outcome.exit == 64)
    let option = ["--out", "--to"].first(where: command.contains)
    let what = option.map { "the path of \($0)" } ?? "an argument"
    #expect(outcome.errorText.hasPrefix("secretprefs: error: \(what) is empty\n"))
  }

  private static let mayUnshare =
    (try? Tool.shell("unshare --user --map-root-user --mount mount -t tmpfs none /mnt", in: try Scratch()).exit) == 0

  @Test(arguments: ["inject --in template --out d/file", "export --to d/file"])
  func `a file is written though its folder cannot be read`(_ command: String) throws {
    let home = try RunTests.prepared()
    try home.write("{{ secret://default/token }}", to: "template")
    // Root may read everything, unless that right is taken away.
    let outcome = try Tool.shell(
      """
      mkdir -m 300 d
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-dac_override,-dac_read_search"
      $drop secretprefs \(command) --key-file k && chmod 700 d && ls -A d && grep -c CANARY-7f3a d/file
      """, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "file\n1\n")
  }

  @Test(arguments: [
    "--mode 64 --out o", "--mode 7 --out o", "--mode 0064 --out o", "--mode 064 --out o", "--mode 00640 --out o",
    "--mode +64 --out o", "--mode 1640 --out o", "--json",
  ])
  func `a mode in another form, and JSON in place of the text, are refused`(_ options: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell("echo text | secretprefs inject --key-file k \(options); [ ! -e o ]", in: home)
    #expect(outcome.exit == 0 && outcome.text.isEmpty)
    #expect(outcome.errorText.contains(options == "--json" ? "--json needs --out" : "--mode must have three octal"))
  }

  @Test func `a template is not typed by hand`() throws {
    let home = try RunTests.prepared()
    let terminal = try PseudoTerminal()
    let outcome = try Running([Tool.path, "inject", "--key-file", "k"], in: home, input: terminal.path).wait()
    #expect(outcome.exit == 64)
    #expect(
      outcome.errorText == """
        secretprefs: error: there is no template: standard input is a terminal
        secretprefs: hint: name the template with --in

        """)
  }

  @Test func `a file whose folder cannot be synced is reported as written`() {
    let error = ToolError(thrown: PreferencesError(.init(rawValue: "durabilityUnknown"), "d"))
    #expect(error.code == "durabilityUnknown")
    #expect(error.status == .inputOutput)
  }

  @Test(.enabled(if: mayUnshare)) func `a full disk leaves the old file`() throws {
    let home = try RunTests.prepared()
    try home.write(String(repeating: "x", count: 200_000) + "{{secret://default/token}}", to: "template")
    let outcome = try Tool.shell(
      """
      mkdir full
      unshare --user --map-root-user --mount sh -c '
        mount -t tmpfs -o size=64k none full && echo old >full/out
        secretprefs inject --in template --out full/out --key-file k
        echo $?; cat full/out; ls -A full'
      """, in: home)
    #expect(outcome.text == "74\nold\nout\n")
    #expect(
      outcome.errorText.hasPrefix(
        "secretprefs: error: \"full/out\": cannot be written (No space left on device)\n"
          + "secretprefs: hint: nothing was changed and nothing is lost; make space"))
  }

  @Test(.enabled(if: mayUnshare)) func `an archive on a full disk is not made, and the hint says what to do`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      head -c 200000 /dev/zero | secretprefs set zeros --data --key-file k; mkdir full
      unshare --user --map-root-user --mount sh -c '
        mount -t tmpfs -o size=64k none full
        secretprefs export --format archive --to full/out --key-file k
        echo $?; ls -A full'
      """, in: home)
    #expect(outcome.text == "74\n")
    #expect(outcome.errorText.contains("secretprefs: hint: nothing was changed and nothing is lost; make space"))
  }
}
