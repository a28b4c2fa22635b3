import Foundation
import Testing

/// A damaged vault leads to an error with its path, and to a hint whose commands work as they are printed.
struct DamagedVaultTests {
  struct Damage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The line of shell that damages `v.spv`.
    let line: String

    init(_ name: String, _ line: String) {
      testDescription = name
      self.line = line
    }

    static func write(_ bytes: String, at offset: Int) -> Damage {
      Damage("other bytes at \(offset)", "printf '\(bytes)' | dd of=v.spv bs=1 seek=\(offset) conv=notrunc 2>/dev/null")
    }

    static func content(_ name: String, _ bytes: String) -> Damage { Damage(name, "printf '\(bytes)' > v.spv") }
  }

  static let damages: [Damage] =
    [
      Damage("empty", ": > v.spv"), .content("one byte", "\\211"), .content("a text", "CANARY=value\\n"),
      Damage("zeros", "head -c 35248 /dev/zero > v.spv"),
      Damage("a zeroed block", "dd if=/dev/zero of=v.spv bs=512 count=1 conv=notrunc 2>/dev/null"),
      .content("a database of KeePass", "\\003\\331\\242\\232\\147\\373\\113\\265\\001\\000\\004\\000"),
      .content("a database of SQLite", "SQLite format 3\\000"), Damage("too long", "truncate -s 20G v.spv"),
    ]
    // The signature, the version, the flags, the counts, the id, the lengths, a slot.
    + [0, 3, 7, 8, 10, 13, 15, 20, 40, 50, 60].map { Damage.write("XX", at: $0) }
    + [4, 8, 20, 55, 56, 80, 200, 400, 1000, 2000, 2400].map { count in
      Damage("cut at \(count)", "head -c \(count) good > v.spv")
    }

  /// The commands in a hint, in the order in which they are carried out: what is recovered first must still be there.
  private static func commands(_ hint: String) -> [String] {
    let all = hint.matches(of: /"([^"]+)"/).map { String($0.output.1) }
    return all.filter { $0.contains(" salvage") } + all.filter { $0.hasPrefix("mv ") }
      + all.filter { $0.contains(" backup restore") }
  }

  private static func hint(_ outcome: Tool.Outcome) -> String {
    let start = "secretprefs: hint: "
    let line = outcome.errorText.split(separator: "\n").first { $0.hasPrefix(start) }
    return line.map { String($0.dropFirst(start.count)) } ?? ""
  }

  @Test(arguments: damages)
  func `a hint about a damaged vault is carried out as printed, and the vault opens`(damage: Damage) throws {
    let home = try Scratch()
    let start = "export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k; "
    let made = try Tool.shell(
      start + "secretprefs init --key-file k && printf v | secretprefs set tok && secretprefs backup b.spv && "
        + "cp -p v.spv good && \(damage.line)", in: home)
    #expect(made.exit == 0, "\(made.errorText)")
    for command in ["get tok", "status", "verify", "list", "slots list", "backup new.spv", "set other < k"] {
      let failed = try Tool.shell(start + "secretprefs \(command)", in: home)
      #expect(failed.exit == 65, "\(command)")
      #expect(failed.errorText.contains("/v.spv: ") || failed.errorText.contains(" v.spv: "), "\(failed.errorText)")
    }
    try carryOut(Self.hint(try Tool.shell(start + "secretprefs get tok", in: home)), start, home)
    let found = try Tool.shell(start + "secretprefs get tok", in: home)
    #expect(found.text == "v", "\(found.errorText)")
  }

  private func carryOut(_ hint: String, _ start: String, _ home: Scratch) throws {
    let commands = Self.commands(hint)
    #expect(commands.last?.contains(" backup restore") == true, "no cure: \(hint)")
    for command in commands {
      let line = command.replacing("<file>", with: "saved.spv").replacing("<backup>", with: "b.spv")
      let isRestore = line.contains(" backup restore")
      let outcome = try Tool.shell(start + line + (isRestore ? " --yes" : ""), in: home)
      if line.contains(" salvage"), outcome.exit <= 1 {
        let saved = try Tool.shell(start + "secretprefs get tok --vault saved.spv", in: home)
        #expect(saved.text == "v", "\(saved.errorText)")
      } else if line.contains(" salvage") || isRestore, outcome.exit != 0 {
        // What only the credential shows: the next hint must lead on.
        let next = Self.hint(outcome)
        #expect(Self.commands(next) != commands && !next.isEmpty, "\(outcome.errorText)")
        if isRestore {
          try carryOut(next + " \"\(command)\"", start, home)
        }
      } else {
        #expect(outcome.exit == 0, "\(line): \(outcome.errorText)")
      }
    }
  }
}
