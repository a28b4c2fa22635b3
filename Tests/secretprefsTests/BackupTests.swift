import Foundation
import Testing

/// What `backup --keep` removes and what it keeps, and what a damaged backup restores.
struct BackupTests {
  private let home: Scratch

  /// A vault with the keys k1 to k5, and two copies of it.
  init() throws {
    home = try Scratch()
    let made = try shell(
      """
      secretprefs init --key-file k
      for n in 1 2 3 4 5; do printf $n | secretprefs set k$n || exit; done
      for n in 1 2; do secretprefs backup copies/ --keep 2 || exit; done
      """)
    try #require(made.exit == 0, "\(made.errorText)")
  }

  private func shell(_ lines: String) throws -> Tool.Outcome {
    try Tool.shell("export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k; " + lines, in: home)
  }

  /// Changes a byte of the last entry of a file.
  private static func breakEnd(_ file: String) -> String {
    #"""
    end=$(secretprefs status --vault \#(file) --json \
      | sed 's/.*"snapshotBytes":\([0-9]*\),"journalBytes":\([0-9]*\).*/\1+\2/')
    printf XX | dd of=\#(file) bs=1 seek=$(($end - 60)) conv=notrunc status=none

    """#
  }

  private var copies: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: home.file("copies")).sorted() }
  }

  @Test func `a vault that ends with a broken entry is copied, and no older copy is removed`() throws {
    let before = try copies
    let outcome = try shell(Self.breakEnd("v.spv") + "secretprefs backup copies/ --keep 1 --json")
    #expect(outcome.exit == 1)
    #expect(outcome.text.contains(#""removed":[],"tornTail":true"#), "\(outcome.text)")
    #expect(
      outcome.errorText.contains(
        "the new copy was made; older copies are kept, because the vault ends with a broken entry"))
    #expect(try copies.count == 3)
    #expect(try Set(before).isSubset(of: copies))
    #expect(try shell("secretprefs get k5 --vault copies/\(before[0])").text == "5")
  }

  @Test(arguments: [
    "cp v.spv old; printf 6 | secretprefs set k6; secretprefs backup copies/; cat old > v.spv",
    "cp v.spv old; printf 6 | secretprefs set k6; secretprefs backup copies/; cat old > v.spv; secretprefs compact",
    BackupTests.breakEnd("v.spv") + "printf 6 | secretprefs set k6",
  ])
  func `a copy that has what the vault does not have is kept`(_ change: String) throws {
    let made = try shell(change)
    #expect(made.exit == 0, "\(made.errorText)")
    let newest = try #require(try copies.last)
    let outcome = try shell("secretprefs backup copies/ --keep 1 --json")
    #expect(outcome.exit == 1)
    #expect(outcome.text.contains("\"unmatched\":[\"copies/\(newest)\""), "\(outcome.text)")
    #expect(outcome.errorText.contains("because the vault does not have all that they have: copies/"))
    #expect(try copies.contains(newest))
  }

  @Test func `copies from before a full write are removed, also if they do not open any more`() throws {
    let outcome = try shell(
      """
      secretprefs slots add --new-key-file k2 || exit
      secretprefs backup copies/ --keep 1 --key-file k2
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try copies.count == 1)
  }

  @Test func `a backup that ends with a broken entry is restored without it, and the answer says so`() throws {
    let outcome = try shell(
      "cp v.spv cut.spv\n" + Self.breakEnd("cut.spv") + "secretprefs backup restore cut.spv --yes --json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains(#""tornTail":true"#), "\(outcome.text)")
    #expect(outcome.errorText.contains("in the backup, the journal ends with a broken entry"))
    #expect(outcome.errorText.contains("The broken bytes are not copied"))
    #expect(!outcome.errorText.contains(".torn"))
  }
}
