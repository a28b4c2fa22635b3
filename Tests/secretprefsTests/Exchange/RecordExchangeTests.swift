import Foundation
import Testing
import VaultCore

/// What `export --format records` writes, imported again.
struct RecordExchangeTests {
  /// Runs lines of shell with two vaults, `a.spv` with records of every kind, and `b.spv` without any.
  private func run(_ lines: String) throws -> Tool.Outcome {
    let home = try Scratch()
    let made = try Tool.shell(
      #"""
      set -e
      secretprefs init --vault a.spv --key-file k; secretprefs init --vault b.spv --key-file k2
      export SECRETPREFS_VAULT=a.spv SECRETPREFS_KEY_FILE=k
      for i in 1 2 3 4 5; do printf "v$i" | secretprefs set s --service x; done
      printf true | secretprefs set s --service x --bool
      printf 'line\n"q" \\ é\t' | secretprefs set multi --service x --label L --comment 'c "x"' --attribute a=b \
        --attribute c= --expiry 2099-01-01
      printf '\377\000x' | secretprefs set bin --data
      printf text | secretprefs set textdata --data
      printf 42 | secretprefs set n --int; printf true | secretprefs set b --bool
      printf 1e300 | secretprefs set d --double; printf -- -0.0 | secretprefs set zero --double
      printf inf | secretprefs set inf --double
      printf 18446744073709551615 | secretprefs set u --kind unsignedInteger
      printf 2024-01-02T03:04:05.123456789Z | secretprefs set date --date
      printf 'https://a.example/?q=1' | secretprefs set url --kind url
      printf '{"a": [1, null,  "x"]}' | secretprefs set j --kind json
      printf '{\n "a": 1}' | secretprefs set jm --kind json; printf '"str"' | secretprefs set js --kind json
      printf z | secretprefs set h0 --history 0; printf acc | secretprefs set acc --accessibility afterFirstUnlock
      printf '' | secretprefs set empty --allow-empty; printf '{{ op://a/b }}' | secretprefs set reference
      secretprefs edit n --history 7
      secretprefs export --format records --all-services --to a.jsonl
      use() { export SECRETPREFS_VAULT=b.spv SECRETPREFS_KEY_FILE=k2; }
      strip() { sed -E 's/"(revision|created|modified)":("[^"]*"|[0-9]+),?//g' "$1"; }
      """# + "\n" + lines, in: home)
    return made
  }

  @Test func `records that are imported into an empty vault are exported as they were`() throws {
    let outcome = try run(
      """
      use; secretprefs import a.jsonl
      secretprefs export --format records --all-services --to b.jsonl
      strip a.jsonl > a; strip b.jsonl > b; cmp a b
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      outcome.text == """
        19 keys imported, services default, x
        "secretprefs history undo 2-5" undoes the import
        note: the records get the time and the revision of this import
        a.jsonl still has the values in plain text

        """)
  }

  @Test func `records in a file with the name of JSON are recognised`() throws {
    let outcome = try run(
      """
      secretprefs export --format records --service x --only multi --to one.json
      use; secretprefs import one.json | head -1; cp a.jsonl all.json
      secretprefs import all.json --on-conflict skip | head -1
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      outcome.text == """
        1 key imported, service x
        18 keys imported, 1 existing kept, services default, x

        """)
  }

  @Test func `settings that have some of the names of a record are settings`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(#"{"key":"k","service":"s","kind":"string","value":"v"}"#, to: "s.json")
    let outcome = try scene.shell("secretprefs import s.json")
    #expect(
      try scene.texts(service: "default") == ["key": "k", "service": "s", "kind": "string", "value": "v"],
      "\(outcome.errorText)")
  }

  @Test func `the earlier values are in their order, with their kinds`() throws {
    let outcome = try run(
      """
      use; secretprefs import - --format records < a.jsonl > report
      for revision in $(secretprefs history s --service x | tr -d '*' | awk '{print $1}'); do
        secretprefs get s --service x --revision $revision && echo
      done
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "true\nv5\nv4\nv3\n")
  }

  @Test func `an existing key stops the import, is skipped, or keeps its value as an earlier one`() throws {
    let outcome = try run(
      """
      use; printf old | secretprefs set s --service x; printf mine | secretprefs set n
      secretprefs import a.jsonl 2> error && exit 1
      grep -q 'these keys exist: default/n, x/s' error; test $(secretprefs list --all-services | wc -l) = 2
      secretprefs import a.jsonl --on-conflict skip | head -1; secretprefs get n; echo
      secretprefs import a.jsonl --on-conflict replace | head -1; secretprefs get s --service x; echo
      secretprefs export --format records --service x --only s | grep -c '"value":"old"'
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(
      outcome.text == """
        17 keys imported, 2 existing kept, services default, x
        mine
        19 keys imported, 19 of them replaced, services default, x
        true
        1

        """)
  }

  @Test(arguments: ["remove k", "list"])
  func `values that cannot be earlier ones of a record are named`(_ command: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      #"{"key":"k","service":"default","kind":"string","value":"x","accessibility":"whenUnlockedThisDeviceOnly"}"#,
      to: "r.jsonl")
    let outcome = try scene.shell(
      """
      secretprefs new-key device; printf old | secretprefs set k; secretprefs \(command)
      secretprefs import r.jsonl --on-conflict replace --device-key-file device
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let reason = "its values in the vault are not kept: only they, or only the new ones, are bound to a device"
    #expect(outcome.text.contains("note: line 1, k: \(reason)\n"), "\(outcome.text)")
  }

  @Test func `with --service all records get that service, and with a prefix that name`() throws {
    let outcome = try run(
      """
      use; secretprefs import a.jsonl --service one --prefix p/ --json | tr ',' '\\n' | grep -e service -e '"imported"'
      secretprefs list --all-services | cut -f1 | sort -u; secretprefs get p/s --service one
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "{\"service\":\"one\"\n\"imported\":19\none\ntrue")
  }

  static let bad: [(line: String, reason: String)] = [
    ("[]", "a record without \"key\""), ("1", "no object and no list"), ("{", "expected a name"),
    ("{}", "a record without \"key\""),
    (#"{"key":"k","service":"s"}"#, "a record without \"kind\""),
    (#"{"key":"k","service":"s","kind":"string"}"#, "a record without a value, or with two"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","base64":"YQ=="}"#, "a record without a value, or with"),
    (#"{"key":"k","service":"s","kind":"string","value":1}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"integer","value":1.5}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"date","value":"tomorrow"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"bool","base64":"Ag=="}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"bool","value":1}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"bool","value":"yes"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"bool","value":"true"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"integer","value":"5"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"integer","value":18446744073709551615}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"unsignedInteger","value":-1}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"double","value":"1.5"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"double","value":"nan"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"double","value":true}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"url","value":"not a url"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"date","value":1}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"json","base64":"MSwieCI6MQ=="}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"json","base64":""}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"url","base64":"bm90IGEgdXJs"}"#, "a value that is not of its kind"),
    (#"{"key":"k","service":"s","kind":"data","base64":"%"}"#, "\"base64\" is no Base64"),
    (#"{"key":"k","service":"s","kind":"new","value":"a"}"#, "a kind that is not known"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","accessibility":"x"}"#, "an accessibility that is not"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","expiry":"x"}"#, "\"expiry\" is no time"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","historyDepth":-1}"#, "\"historyDepth\" is no number"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","previous":[1]}"#, "no object where one belongs"),
    (#"{"key":"k","service":"s","kind":"string","value":"a","attributes":[{"name":"n"}]}"#, "an attribute without"),
    (
      #"{"key":"k","service":"s","kind":"string","value":"a","attributes":[{"name":"n","base64":"%"}]}"#,
      "\"base64\" is no Base64"
    ),
    (#"{"key":"k","service":"s","kind":"string","value":"a","value":"b"}"#, "a repeated member"),
    (#"{"key":"k\n","service":"s","kind":"string","value":"a"}"#, "not a key"),
    (#"{"key":"k","service":"","kind":"string","value":"a"}"#, "not a key"),
  ]

  @Test(arguments: ["YQo=", "YQo"])
  func `base64 needs no padding, in a value and in an attribute`(_ text: String) throws {
    let scene = try ExchangeScene()
    let attributes = #"[{"name":"n","base64":"\#(text)"}]"#
    try scene.home.write(
      #"{"key":"k","service":"s","kind":"data","base64":"\#(text)","attributes":\#(attributes)}"#, to: "r.jsonl")
    let outcome = try scene.shell("secretprefs import r.jsonl")
    #expect(try scene.texts(service: "s") == ["k": "a\n"], "\(outcome.errorText)")
    let record = try #require(try scene.vault.record(service: try Vault.Name("s"), key: "k", in: scene.group))
    #expect(record.attributes.first?.data == Array("a\n".utf8))
  }

  @Test(arguments: bad)
  func `a bad record is named, nothing is imported, and --skip leaves it out`(line: String, reason: String) throws {
    let scene = try ExchangeScene()
    let good = #"{"key":"good","service":"s","kind":"string","value":"v","future":1}"#
    try scene.write(Array("\(good)\n\(line)\n".utf8), to: "r.jsonl")
    let before = try scene.file
    let outcome = try scene.shell("secretprefs import r.jsonl")
    #expect(outcome.exit != 0)
    #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("line 2"), "\(outcome.errorText)")
    #expect(try scene.file == before)
    guard line.hasPrefix("{\"") else { return }
    let skipped = try scene.shell("secretprefs import r.jsonl --skip 2")
    #expect(skipped.exit == 0, "\(skipped.errorText)")
    #expect(skipped.text.contains("not imported: line 1, good, future: a member that is not known"))
    #expect(try scene.texts(service: "s") == ["good": "v"])
  }
}
