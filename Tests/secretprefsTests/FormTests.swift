import ArgumentParser
import Testing
import VaultCore
import VaultMemorySearching

@testable import secretprefs

struct FormTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `a time is RFC 3339 in UTC`(_ milliseconds: Int64, _ text: String) {
    #expect(Timestamp(milliseconds: milliseconds)?.text == text)
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
      ("2100-02-28T23:59:59.999Z", 4_107_542_399_999), ("2100-03-01T00:00:00Z", 4_107_542_400_000),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
    ] as [(String, Int64)])
  func `a time is read as it is written, also without milliseconds`(_ text: String, _ milliseconds: Int64) {
    #expect(Timestamp(text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "Z", "2027-01-31", "2027-01-31T12:00:00", "2027-01-31T12:00:00.5Z", "2027-01-31T12:00:00.500z",
    "2027-01-31 12:00:00Z", "2027-01-31T12:00:00+0Z", "2027-13-31T12:00:00Z", "2027-00-31T12:00:00Z",
    "2027-02-29T12:00:00Z", "2100-02-29T12:00:00Z", "2027-01-00T12:00:00Z", "2027-01-31T24:00:00Z",
    "2027-01-31T12:60:00Z", "2027-01-31T12:00:60Z", "-027-01-31T12:00:00Z", "12027-01-31T12:00:00Z",
    "2027-01-31T12:00:00ZZ", "2027-01-31T12:00:00.000Z\n", "２027-01-31T12:00Z", "2027--1-31T12:00:00Z",
  ])
  func `what is no time in that form is not read`(_ text: String) { #expect(Timestamp(text) == nil) }

  @Test(
    arguments: [
      ("0s", 0), ("45s", 45_000), ("30m", 1_800_000), ("12h", 43_200_000), ("90d", 7_776_000_000),
      ("007d", 604_800_000), ("2w", 1_209_600_000), ("1y", 31_536_000_000),
      ("1234567890s", 1_234_567_890_000), ("00000000000000000000001d", 86_400_000),
      ("2001-01-01", 978_307_200_000 - 1_700_000_000_123),
      ("2001-01-01T00:00:00Z", 978_307_200_000 - 1_700_000_000_123),
    ] as [(String, Int64)])
  func `an expiry is a time, or so long after now`(_ text: String, _ after: Int64) throws {
    #expect(try Expiry(text, now: 1_700_000_000_123).milliseconds == 1_700_000_000_123 + after)
  }

  @Test(arguments: [
    "", "d", "90", "90y2w", "90D", "2027-01", "2027-02-30", "2027-01-31T", "2027-1-31", "-1d", "+1d", "1.5d", "1e3d",
    "0x1d", "1 d", "９d", "1d\u{301}", "1x",
  ])
  func `another expiry is refused`(_ text: String) throws {
    let error = try #require(throws: ToolError.self) { try Expiry(text, now: 1_700_000_000_123) }
    #expect(error.message.hasPrefix("an expiry must be a day or a time in UTC"))
  }

  @Test(arguments: [
    "8000y", "9999y", "10000y", "999999999d", "999999999y", "9223372036854775807s", "9223372036854775808d",
    "99999999999999999999y",
  ])
  func `an expiry after the year 9999 is refused as such`(_ text: String) throws {
    let error = try #require(throws: ToolError.self) { try Expiry(text, now: 1_700_000_000_123) }
    #expect(error.message == "an expiry must not be after the year 9999")
  }

  @Test(arguments: ["10000y", "999999999y", "300000000y", "9223372036854775807d", "9223372036854775808s"])
  func `a duration that is too long is refused as such, where it is not limited further`(_ text: String) throws {
    let error = try #require(throws: ToolError.self) { try ExpiryRule(text) }
    #expect(error.message == "a duration is at most 9999 years")
    #expect(KeptLimits.seconds(text) == nil)
    _ = try ExpiryRule("9999y")
  }

  @Test func `the errors about a duration name the units that are taken, and no other`() throws {
    func units(_ isTaken: (String) -> Bool) -> Set<Character> {
      Set("abcdefghijklmnopqrstuvwxyz".filter { isTaken("1\($0)") })
    }
    /// The letters of the units in a text: each is the first letter of its name.
    func named(_ text: String) -> Set<Character> {
      let list = text.firstRange(of: "a whole number of ").map { text[$0.upperBound...] } ?? ""
      let words = list.split { $0 == "," || $0 == " " }.prefix { $0 != "from" }
      return Set(words.filter { $0 != "or" }.compactMap(\.first))
    }
    let duration = try #require(throws: ToolError.self) { try Expiry.duration("x") }
    #expect(named(duration.message) == units { Expiry.milliseconds($0) != nil })
    let expiry = try #require(throws: ToolError.self) { try Expiry("x", now: 0) }
    #expect(named(expiry.message) == named(duration.message))
    #expect(named(KeptLimits.form) == units { KeptLimits.seconds($0) != nil })
    let since = try Tool.run(["audit", "show", "--since", "x"], in: try Scratch())
    #expect(since.exit == 64)
    #expect(named(String(since.errorText.prefix { $0 != "\n" })) == named(duration.message))
  }

  @Test func `a time outside of the four-digit years has no text`() {
    #expect(Timestamp(milliseconds: .max) == nil)
    #expect(Timestamp(milliseconds: .min) == nil)
    #expect(Timestamp(secondsSince2001: .nan) == nil)
    #expect(Timestamp(secondsSince2001: .infinity) == nil)
  }

  @Test func `names show what would mislead`() {
    #expect(displayed("plain ü \u{1F600}") == "plain ü \u{1F600}")
    #expect(displayed("a\u{202E}b\u{200D}\u{1B}\u{9B}\u{2028}") == "a\\u{202E}b\\u{200D}\\u{1B}\\u{9B}\\u{2028}")
    // Letters, marks and symbols that look like nothing.
    #expect(displayed("\u{3164}\u{FE0F}\u{34F}\u{2800}") == "\\u{3164}\\u{FE0F}\\u{34F}\\u{2800}")
    #expect(JSON.string("\"\\\u{202E}\u{E0001}\n").text == #""\"\\\u202e\udb40\udc01\u000a""#)
  }

  @Test(arguments: [
    (#"DOMAIN\user"#, #"DOMAIN\user"#), (#"a\"#, #"a\"#), (#"\\host\share"#, #"\\host\share"#),
    (#"a\u{202E}"#, #"a\u{5C}u{202E}"#), (#"\u{5C}u{"#, #"\u{5C}u{5C}u{"#), (#"\u"#, #"\u"#),
    ("\\\u{202E}", #"\\u{202E}"#), ("ü\\u{1B}", #"ü\u{5C}u{1B}"#),
  ])
  func `a backslash is escaped where it would read as an escape`(_ text: String, _ shown: String) {
    #expect(displayed(text) == shown)
  }

  @Test func `no two names are shown alike`() {
    // All texts of up to five of the characters that escapes are made of.
    var texts = [""]
    var shown: [String: String] = [:]
    for _ in 0..<5 { texts += texts.flatMap { text in ["\\", "u", "{", "5", "C", "}", "\u{5}"].map { text + $0 } } }
    for text in Set(texts) {
      #expect(shown.updateValue(text, forKey: displayed(text)) == nil, "\(text.debugDescription)")
    }
  }

  @Test(arguments: [
    ("lsit", "list"), ("gett", "get"), ("st", "set"), ("pasphrase", "passphrase"), ("exit-code", "exit-codes"),
    ("Get", "get"), ("groups craete", "groups create"), ("slots delete", nil), ("mark intt", "mark init"),
    ("backup restroe a b", "backup restore"),
    ("bundle export a", nil), ("hunter2", nil), ("x", nil), ("--lsit", nil), ("", nil),
  ])
  func `a command that is nearly one is suggested`(_ words: String, _ command: String?) {
    let error = UsageRefusal.error(for: Arguments(words: words.split(separator: " ").map(String.init)))
    let suggestion = command.map { "did you mean \"secretprefs \($0)\"?" }
    #expect(error.hint?.hasPrefix("did you mean") == (suggestion != nil))
    #expect(error.hint?.hasPrefix(suggestion ?? "") == true)
  }

  @Test(arguments: UsageRefusal.otherNames.keys.sorted())
  func `the name that another program uses leads to a command that exists`(_ name: String) throws {
    let command = try #require(UsageRefusal.otherNames[name])
    let error = UsageRefusal.error(for: Arguments(words: [name, "x"]))
    #expect(error.message == "there is no such command")
    #expect(error.hint?.hasPrefix("did you mean \"secretprefs \(command)\"?") == true)
    let words = command.split(separator: " ").map(String.init) + ["--nosuch"]
    #expect(UsageRefusal.error(for: Arguments(words: words)).message.hasSuffix(" of \"secretprefs \(command)\""))
  }

  @Test(arguments: UsageRefusal.places.keys.sorted())
  func `a file behind a command without such an argument leads to the option that names it`(_ command: String) throws {
    let place = try #require(UsageRefusal.places[command])
    let words = command.split(separator: " ").map(String.init)
    let error = UsageRefusal.error(for: Arguments(words: words + [TranscriptTests.canary]))
    #expect(error.hint?.hasPrefix(place + "; ") == true && error.hint?.contains(TranscriptTests.canary) == false)
    for option in place.matches(of: /--[a-z]+/) {
      let known = UsageRefusal.error(for: Arguments(words: words + [String(option.output), "x", "y"]))
      #expect(known.message == "invalid arguments for \"secretprefs \(command)\"")
    }
  }

  @Test func `columns are as wide as their widest cell, and no line ends in spaces`() {
    #expect(Table(rows: []).text.isEmpty)
    #expect(Table(rows: [["a", "bb", ""], ["äöü", "b", "c"]]).text == "a    bb\näöü  b   c\n")
    #expect(Table(rows: [["", ""]]).text == "\n")
    #expect(Table(rows: [["日本", "b"], ["a", "c"]]).text == "日本  b\na     c\n")
  }

  @Test func `a value on its way into JSON is in guarded memory alone`() throws {
    let search = MemorySearch()
    nonisolated(unsafe) let output = try SecretOutput()
    try search.note { search in
      try withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { letters in
        for index in letters.indices { letters[index] = .random(in: 0x61...0x7A) }
        search.add("value", UnsafeRawBufferPointer(letters))
        try output.writeEscaped(UnsafeRawBufferPointer(letters))
      }
    }
    let finds = try search.finds()
    withExtendedLifetime(output) {}
    #expect(!finds.isEmpty)
    // Such memory is left out of core files.
    for find in finds { #expect(Mapping.flags(at: find.address).contains("dd"), "\(find)") }
  }

  @Test(arguments: ["", "g", "12345g", "0x1234", "-123456", "１２３４５６", String(repeating: "a", count: 33)])
  func `what does not name a slot is refused before a vault is opened`(_ text: String) {
    #expect(throws: ToolError.self) { try SlotChoice(text) }
  }

  @Test(
    arguments: [
      ("biling", "billing"), ("bililng", "billing"), ("Billing", "billing"), ("deflaut", "default"), ("a", nil),
      ("ab", "abc"), ("shop", nil), ("", nil),
    ] as [(String, String?)])
  func `a word is meant for another that is few edits away`(_ word: String, _ meant: String?) {
    #expect(nearest(word, among: ["default", "billing", "abc"]) == meant)
    #expect(nearest(word, among: []) == nil)
  }

  @Test(arguments: [
    ("get tok --verson", "--version"), ("get tok --hlep", "--help"), ("get tok --servce s", "--service"),
    ("get tok --jsno", "--json"), ("get tok --x", nil), ("get tok --nosuchoption", nil),
  ])
  func `an option that is nearly one is suggested, without its dashes`(_ words: String, _ option: String?) {
    let error = UsageRefusal.error(for: Arguments(words: words.split(separator: " ").map(String.init)))
    #expect(error.hint?.hasPrefix("did you mean") == (option != nil))
    #expect(error.hint?.hasPrefix(option.map { "did you mean \($0)? " } ?? "") == true)
  }

  @Test(arguments: [("edit ed --label=", "--label"), ("list --service=", "--service"), ("set a --expiry=", "--expiry")])
  func `an option with nothing behind its equals sign is named`(_ words: String, _ option: String) {
    let error = UsageRefusal.error(for: Arguments(words: words.split(separator: " ").map(String.init)))
    #expect(error.message == "\(option)= has no value; \(option) '' is an empty one")
  }

  @Test func `two passphrases from one descriptor are refused`() throws {
    try PassphraseDescriptor.checkDistinct([])
    try PassphraseDescriptor.checkDistinct([3, 4, 5])
    #expect(throws: ToolError.self) { try PassphraseDescriptor.checkDistinct([3, 4, 3]) }
  }

  @Test func `every error class has an exit code and every code a class`() {
    for code in VaultError.Code.all { #expect(ExitStatus(code) != .internalFault, "\(code.rawValue)") }
    let without = ExitStatus.allCases.filter(\.codes.isEmpty)
    #expect(without == [.success, .internalFault])
  }

  @Test func `lines of the exit table fit a terminal of 80 columns`() {
    for line in ExitStatus.table.split(separator: "\n") { #expect(line.utf8.count <= 80, "\(line)") }
  }

  @Test func `every command has a usage line`() {
    func commands(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
      [command] + command.configuration.subcommands.flatMap(commands)
    }
    let without = commands(Root.self).dropFirst().filter { $0.usage.isEmpty }
    #expect(without.isEmpty)
  }

  @Test(arguments: [
    ["get"], ["get", "a", "b"], ["get", "-a"], ["get", "--", "a"], ["get", "a", "--json"], ["get", "a", "--vault"],
    ["get", "a", "--vault", "-x"], ["get", "a", "--vault", "x", "--vault", "y"], ["get", "a", "--vault=x"],
    ["get", ""], ["get", "a", "--revision", "1"], ["get", "--help"], ["list", "--long"], ["set", "a"], [],
    ["list", "a"], ["list", "--json"],
  ])
  func `what is not plain is left to the parser`(_ words: [String]) {
    #expect(FastPath.parse(Arguments(words: words)) == nil)
  }

  @Test(arguments: [
    (["edit", "a", "--value", "--bogus"], false), (["find", "--value", "--bogus"], false),
    (["edit", "a", "--value=x"], true), (["find", "--value=x", "-"], true), (["set", "a", "--value", "x"], true),
    (["edit", "a", "--value", "--password", "x"], true),
  ])
  func `a flag that takes no value is no misplaced secret`(_ words: [String], _ isSecret: Bool) {
    let error = UsageRefusal.error(for: Arguments(words: words))
    #expect((error.message == "secrets are not accepted in options") == isSecret)
  }

  @Test(arguments: [
    ("postgresql://h/db#v: refused", "postgresql://h/db#v: refused"),
    ("/x/postgresql://u:pass@h/db: no", "/x/postgresql://\u{2026}@h/db: no"),
    ("'postgres://u:pa@s/:s@h/db'", "'postgres://\u{2026}@h/db'"), ("a://u@h:1 b", "a://u@h:1 b"),
    ("a://h?password=x&y b a://h?sslpassword=x", "a://h?\u{2026} b a://h?\u{2026}"),
    ("a:/u:x@h/d?%70assword=x", "a:/\u{2026}@h/d?\u{2026}"), ("a://h?PassWord=x#v", "a://h?\u{2026}"),
    ("a://h?sslmode=require#v", "a://h?sslmode=require#v"),
    ("user:word@host, password=x", "user:word@host, password=x"), ("://", "://"), ("", ""), (" ", " "),
    ("https://u:pa'ss@h/x.csv: no", "https://\u{2026}@h/x.csv: no"), ("a://u:p w\"d'@h", "a://\u{2026}@h"),
    ("\"a://u:p#a?s/s:@w@h/d\": no", "\"a://\u{2026}@h/d\": no"), ("a://u:p:/w@h", "a://\u{2026}@h"),
    ("a://h?password=x'y z", "a://h?\u{2026} z"), ("a://u:p's@h?password=x", "a://\u{2026}@h?\u{2026}"),
    ("\"a://u@h\", \"a://v@h\"", "\"a://u@h\", \"a://v@h\""), ("a://h:1\nu@h", "a://h:1\nu@h"),
    ("a://u:p's@h, b://v:w@k", "a://\u{2026}@h, b://\u{2026}@k"),
    ("secret://s/k: no; a:b@c", "secret://s/k: no; a:b@c"), ("secret://s/k: a://u:p@h", "secret://s/k: a://\u{2026}@h"),
  ])
  func `a message does not show a password of a URL`(_ text: String, _ shown: String) {
    #expect(withoutPasswords(text) == shown)
  }

  @Test(
    arguments: [
      ("./postgresql:", nil), ("postgresql:", nil), ("postgresql:/x", nil), ("v.spv", nil), ("", nil), ("://x", nil),
      ("/a://b", nil), ("postgresql:///s#v", "v"), ("postgres://h/s#a%20%C3%A9", "a \u{E9}"),
      ("postgresql://h/s#a#b", "a#b"), ("postgresql://h/s", nil), ("postgresql://h/s#", nil),
    ] as [(String, String?)])
  func `a URL names a vault behind its first number sign, and a path is none`(_ text: String, _ vault: String?) throws {
    let url = try DatabaseURL(text)
    #expect((url != nil) == (text.hasPrefix("postgres") && text.contains("://")))
    #expect(url?.vault == vault)
  }

  @Test(arguments: [
    "http://h/db#v", "POSTGRESQL://h/db#v", "postgresql:/u:x@h/d#v", " postgres://u:x@h/d#v", "x+y-z.1://",
    "postgresql://h/s#%", "postgresql://h/s#%4",
    "postgresql://h/s#%+1", "postgresql://h/s#%ff", "postgresql:u:x@h/d#v", "host=h password=x dbname=d",
    "PassWord = 'x y'",
  ])
  func `a URL of something else, or with a broken name, is refused`(_ text: String) {
    #expect(throws: ToolError.self) { try DatabaseURL(text) }
  }

  @Test func `a plain get is understood`() throws {
    let words = ["get", "--service", "s", "key", "--no-prompt", "--vault", "v", "--key-file", "k", "--group", "g"]
    let get = try #require(FastPath.parse(Arguments(words: words)) as? GetValue)
    #expect(get.key == "key" && get.place.service.text == "s")
    #expect(get.access.location.path == "v" && get.access.keyFile == "k" && !get.access.mayPrompt)
  }

  @Test func `a plain list is understood`() throws {
    let words = ["list", "--vault", "v", "--service", "s"]
    let list = try #require(FastPath.parse(Arguments(words: words)) as? ListKeys)
    #expect(list.place.service.text == "s" && list.access.location.path == "v")
  }
}
