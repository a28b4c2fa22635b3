import Testing

struct KeepOptionsTests {
  /// A vault with the owners `k` and `k2`, and a command that reads the credential to keep from a FIFO when it has
  /// listed the slots.
  private static let start = """
    umask 077
    export SECRETPREFS_VAULT=$PWD/v.spv
    secretprefs init --key-file k
    secretprefs slots add --key-file k --new-key-file k2 > added
    slot=$(secretprefs slots list --key-file k | sed -n 's/^\\* \\([0-9a-f]*\\) .*/\\1/p')
    mkfifo fifo
    secretprefs rotate --vault-keys --key-file k --keep-key-file fifo 2> errors & exec 3> fifo

    """

  private static func run(_ meanwhile: String) throws -> Tool.Outcome {
    try Tool.shell("\(start)\(meanwhile)\ncat k2 >&3; exec 3>&-; wait $!; echo $?; cat errors >&2", in: Scratch())
  }

  @Test func `if the slot that unlocked the vault is removed meanwhile, no --keep option is blamed`() throws {
    let outcome = try Self.run("secretprefs slots remove $slot --key-file k2 2> warnings")
    #expect(outcome.text == "77\n")
    #expect(outcome.errorText.contains("error: the slot that opened this vault was removed or changed\n"))
  }

  @Test func `an owner slot that is added meanwhile is not removed, and the command says what to do`() throws {
    let outcome = try Self.run("secretprefs slots add --key-file k --new-key-file k3 > new")
    #expect(outcome.text == "1\n")
    #expect(outcome.errorText.contains("hint: run the command again; \"secretprefs slots list\" shows the new slot\n"))
  }
}
