import Testing

struct SlotChoiceTests {
  @Test func `a slot is named by as many digits as no other has`() throws {
    let home = try Scratch()
    // Seventeen ids have two that begin with the same digit.
    let made = try Tool.shell(
      "secretprefs init --key-file key && "
        + "for n in $(seq 16); do secretprefs slots add --new-key-file $n --key-file key; done", in: home)
    try #require(made.exit == 0)
    let ids = made.text.split(separator: "\n").map(String.init)
    let own = try Tool.shell("secretprefs slots --key-file key", in: home).text
      .split(separator: "\n").first { $0.hasPrefix("*") }?.dropFirst(2).prefix(8)
    let all = ids + [String(try #require(own))]
    let (digit, alike) = try #require(Dictionary(grouping: all, by: { $0.prefix(1) }).first { $1.count > 1 })

    let ambiguous = try Tool.run(["slots", "remove", String(digit), "--key-file", "key"], in: home)
    #expect(ambiguous.exit == 64)
    for id in alike { #expect(ambiguous.errorText.contains(id)) }
    #expect(ambiguous.errorText.contains("several slot ids start with these digits"))

    let chosen = ids[0]
    let length = try #require(
      (1...8).first { length in !all.dropFirst().contains { $0.hasPrefix(chosen.prefix(length)) } })
    let removed = try Tool.run(
      ["slots", "remove", "--without-rotation", chosen.prefix(length).uppercased(), "--key-file", "key"], in: home)
    #expect(removed.exit == 0)
    let left = try Tool.shell("secretprefs slots --json --key-file key", in: home).text
    #expect(!left.contains(chosen) && ids.dropFirst().allSatisfy { left.contains($0) })
  }

  @Test func `a key that has no passphrase to change is named as what it is`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      secretprefs init --key-file key; secretprefs identity new id > public
      secretprefs slots add --public-key - --key-file key < public > pin
      secretprefs identity trust id - < pin
      printf new > new
      secretprefs passphrase --identity id --new-passphrase-fd 4 4< new
      secretprefs passphrase --key-file key --new-passphrase-fd 4 4< new
      """, in: home)
    #expect(outcome.exit == 64)
    let reasons = outcome.errorText.matches(of: /the vault was unlocked with (.*), which/).map { String($0.1) }
    #expect(reasons == ["an identity", "a key file"], "\(outcome.errorText)")
  }
}
