import Secrets
import Testing

/// What the tool makes, the library reads, and back.
struct InteroperationTests {
  @Test func `a vault of the tool is read and written by the library, with both credentials`() throws {
    let home = try Scratch()
    try home.write("correct horse battery staple\n", to: "passphrase.txt")
    try home.write("of the tool", to: "value.txt")
    let made = try Tool.shell(
      """
      secretprefs init --vault s.spv --key-file key.txt --passphrase-fd 3 --throwaway-cost 3< passphrase.txt &&
      secretprefs set tool --vault s.spv --key-file key.txt --service shop < value.txt
      """, in: home)
    #expect(made.exit == 0, "\(made.errorText)")

    let byKey = try Vault.open(at: home.path + "/s.spv", unlocking: .keyFile(home.path + "/key.txt"))
    let secrets = try SecretPreferences(service: "shop", in: byKey)
    #expect(try secrets.string(forKey: "tool") == "of the tool")
    try secrets.set("of the library", forKey: "library")

    let byPassphrase = try Vault.open(
      at: home.path + "/s.spv", credential: .passphrase("correct horse battery staple"))
    #expect(
      try SecretPreferences(service: "shop", in: byPassphrase).string(forKey: "library") == "of the library")
    let read = try Tool.shell(
      "secretprefs get library --vault s.spv --passphrase-fd 3 --service shop 3< passphrase.txt", in: home)
    #expect(read.text == "of the library")
  }

  @Test func `a slot that the tool made for one access group opens that group in the library`() throws {
    let home = try Scratch()
    let made = try Tool.shell(
      """
      secretprefs init --vault s.spv --key-file key.txt && export SECRETPREFS_KEY_FILE=key.txt &&
      secretprefs groups create billing --vault s.spv && printf x | secretprefs set a --vault s.spv --group billing &&
      secretprefs slots add --vault s.spv --for-group billing --new-key-file billing.txt --label shop &&
      secretprefs rotate --vault s.spv --vault-keys
      """, in: home)
    #expect(made.exit == 0, "\(made.errorText)")

    let holder = try Vault.open(at: home.path + "/s.spv", unlocking: .keyFile(home.path + "/billing.txt"))
    #expect(try holder.groups().map(\.name.text) == ["billing"])
    #expect(try SecretPreferences(service: "default", accessGroup: "billing", in: holder).string(forKey: "a") == "x")
    let owner = try Vault.open(at: home.path + "/s.spv", unlocking: .keyFile(home.path + "/key.txt"))
    #expect(try owner.slots().map(\.label) == ["key file", "shop"])
    #expect(try owner.slots().map { "\($0.id)\n" }.last == made.text)
  }

  @Test func `what the tool writes down about a key the library reads, and back`() throws {
    let home = try Scratch()
    let made = try Tool.shell(
      """
      secretprefs init --vault s.spv --key-file key.txt && export SECRETPREFS_KEY_FILE=key.txt &&
      printf x | secretprefs set a --vault s.spv --label shop --comment note --expiry 2027-01-31T12:00:00Z \\
        --attribute owner=ops --history 3
      """, in: home)
    #expect(made.exit == 0, "\(made.errorText)")

    let vault = try Vault.open(at: home.path + "/s.spv", unlocking: .keyFile(home.path + "/key.txt"))
    let (service, group) = (try Vault.Name("default"), try vault.group(named: "default"))
    let record = try #require(try vault.record(service: service, key: "a", in: group))
    #expect(record.label == "shop" && record.comment == "note" && record.historyDepth == 3)
    #expect(record.expiry == 1_801_396_800_000)
    #expect(record.attributes == [try RecordEdit.Attribute("owner", Array("ops".utf8))])

    var edit = RecordEdit()
    edit.attributes = .set(record.attributes + [try RecordEdit.Attribute("icon", [0xFF, 0, 1])])
    edit.expiry = .set(.max)
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in try batch.edit("a", edit) }
    let received = try Tool.shell("secretprefs info a --vault s.spv --key-file key.txt", in: home)
    #expect(received.text.contains("attribute   owner=ops\nattribute   icon, 3 bytes\n"))
    #expect(received.text.contains("expires     9223372036854775807 ms\n"))
    let kept = try Tool.shell(
      "secretprefs edit a --attribute owner=me --vault s.spv --key-file key.txt && "
        + "secretprefs info a --json --vault s.spv --key-file key.txt", in: home)
    #expect(
      kept.text.contains(#""expiry":null,"expired":false,"attributes":[{"name":"icon","bytes":3},{"name":"owner""#))
  }
}
