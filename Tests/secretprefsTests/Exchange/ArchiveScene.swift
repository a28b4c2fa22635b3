import Foundation
import Secrets
import Testing
import VaultCore

/// A vault with everything that an archive can have, written at other times than now.
struct ArchiveScene {
  static let names = [
    "plain", "two words", " blank", "\"quoted\"", "back\\slash", "a/b.c", "-dash", "$HOME", "null", "🦊 é", "{}",
    "\u{202E}turned", "ل\u{200D}", String(repeating: "n", count: 1024),
  ]
  static let groups = ["default", "ops", "Löhne \"x\""]
  static let kinds: [(kind: ValueKind, bytes: [UInt8])] = [
    (.string, []), (.string, Array("text \u{0} \u{1B}[2J \u{7F}\u{85} \\ \" \n\r\t 🦊 \u{2028}".utf8)),
    (.data, []), (.data, [0, 255, 10, 34]), (.data, Array("text".utf8)), (.bool, [1]), (.bool, [0]),
    (.integer, word(UInt64(bitPattern: .min))), (.unsignedInteger, word(.max)), (.double, word((-0.0).bitPattern)),
    (.double, word((0.1).bitPattern)), (.double, word((Double.infinity).bitPattern)),
    (.double, word(0x7FF8_0000_0000_1234)), (.date, word((0.1234567).bitPattern)), (.date, word((1e300).bitPattern)),
    (.date, word(Double.nan.bitPattern)), (.url, Array("https://a.example/?q=é".utf8)), (.url, []),
    (.json, Array(#"{"a": [1, null,  "x"], "a": 2}"#.utf8)), (.json, Array(" 5 ".utf8)), (.json, Array("{".utf8)),
    (.json, Array("{\n}".utf8)), (.json, []), (.json, Array("\"}],\\\"".utf8)),
    (.json, Array((String(repeating: "[", count: 100) + String(repeating: "]", count: 100)).utf8)),
    (.json, [0xEF, 0xBB, 0xBF] + Array("{}".utf8)),
    (.json, Array((String(repeating: "[", count: 64) + String(repeating: "]", count: 64)).utf8)),
    (ValueKind(rawValue: 77), [1, 2]), (ValueKind(rawValue: 255), []),
  ]

  let home: Scratch

  private static func word(_ word: UInt64) -> [UInt8] { withUnsafeBytes(of: word.littleEndian, Array.init) }

  init() throws {
    home = try Scratch()
    let made = try Tool.shell(
      """
      for v in a b; do secretprefs init --vault $v.spv --key-file $v.key || exit 1; done
      for group in ops 'Löhne "x"'; do secretprefs groups create "$group" --vault a.spv --key-file a.key; done
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let clock = SteppingClock()
    var options = Vault.Options()
    options.now = { clock.next() }
    options.keeping = Vault.Keeping(earlierValues: 3, removedRecords: .seconds(200 * 365 * 86_400))
    let vault = try Vault.open(at: home.file("a.spv"), unlocking: .keyFile(home.file("a.key")), options: options)
    for group in Self.groups { try Self.fill(try vault.group(named: group), of: vault) }
  }

  private static func fill(_ group: AccessGroup, of vault: Vault) throws {
    let service = try Vault.Name("kinds")
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      batch.keeping = .nothing
      for (index, value) in kinds.enumerated() {
        try batch.set(value.bytes.span.bytes, kind: value.kind, forKey: "\(index)")
      }
    }
    for name in names {
      let service = try Vault.Name(name)
      for value in ["first", "second", "third"] {
        try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
          try batch.set(Array(value.utf8).span.bytes, kind: .string, forKey: name)
        }
      }
    }
    try describe(try Vault.Name("described"), group, vault)
  }

  /// Records with all metadata, of which two are removed.
  private static func describe(_ service: Vault.Name, _ group: AccessGroup, _ vault: Vault) throws {
    var edit = RecordEdit()
    edit.label = .set("a \"label\" \n é")
    edit.comment = .set("")
    edit.expiry = .set(.max)
    edit.attributes = .set([
      try RecordEdit.Attribute("team", Array("a\nb".utf8)), try RecordEdit.Attribute("bytes", [0xFF, 0]),
      try RecordEdit.Attribute("team", []),
    ])
    edit.historyDepth = .set(7)
    for key in ["kept", "removed"] {
      for kind in [ValueKind.string, .data, .url, .json, .data] {
        try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
          try batch.set(
            Array("\"\(kind.rawValue)\"".utf8).span.bytes, kind: kind, forKey: key, accessibility: .afterFirstUnlock,
            edit: edit)
        }
      }
    }
    let one: [UInt8] = [1]
    var none = RecordEdit()
    none.historyDepth = .set(0)
    none.expiry = .set(-62_200_000_000_000)
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      batch.keeping.earlierValues = 0
      try batch.set(one.span.bytes, kind: .bool, forKey: "none", edit: none)
      try batch.set(one.span.bytes, kind: .bool, forKey: "gone")
    }
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
      try batch.remove("removed")
      try batch.remove("gone")
    }
  }

  func shell(_ lines: String) throws -> Tool.Outcome {
    try Tool.shell(
      #"""
      set -e
      a() { SECRETPREFS_VAULT=a.spv SECRETPREFS_KEY_FILE=a.key secretprefs "$@"; }
      b() { SECRETPREFS_VAULT=b.spv SECRETPREFS_KEY_FILE=b.key secretprefs "$@"; }
      strip() { sed -E 's/"(revision|exported)":("[^"]*"|[0-9]+)//g' "$1"; }

      """# + lines, in: home)
  }

  func archive() throws -> Data {
    let outcome = try shell("a export --format archive")
    try #require(outcome.exit == 0, "\(outcome.errorText)")
    return outcome.output
  }
}

/// A clock that is a second later each time.
private final class SteppingClock: @unchecked Sendable {
  private let lock = NSLock()
  private var time: Int64 = 1_000_000_000_000

  func next() -> Int64 {
    lock.withLock {
      time += 1000
      return time
    }
  }
}
