import Testing

@testable import VaultCore

extension EveryStorage {
  /// Names that another program wrote in another form than normal form C: `Docs/Decisions/0018`.
  struct ForeignNameTests {}
}

extension EveryStorage.ForeignNameTests {
  @Test func `names whose parts join to the same text have different hashes`() {
    func hash(_ service: String, _ key: String) -> UInt32 {
      let (service, key) = (Array(service.utf8), Array(key.utf8))
      return RecordName(service: service.span.bytes, key: key.span.bytes).hash
    }
    let hashes = Set((1...9).map { hash(String("0123456789".prefix($0)), String("0123456789".dropFirst($0))) })

    #expect(hashes.count == 9)
  }

  /// The same text in two spellings: normal form C, and decomposed.
  private static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

  /// A vault of another program's: a service, a group and two records with decomposed names, one of them beside its
  /// twin in normal form C.
  /// - Parameter alsoComposed: whether the service in normal form C has a record, too.
  private func withForeignVault(
    alsoComposed: Bool = false, _ body: (_ vault: Vault, _ service: Vault.Name, _ group: AccessGroup) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let (group, service) = ("gru\u{308}n", try Vault.Name(verbatim: Array("die\u{308}nst".utf8)))
      var contents = NewGroup("foreign")
      contents.add(service: service) { batch throws(VaultError) in
        try batch.put("alone", for: Self.decomposed + " alone")
        try batch.put("decomposed", for: Self.decomposed)
        try batch.put("composed", for: Self.composed)
      }
      if alsoComposed {
        contents.add(service: try Vault.Name("di\u{EB}nst")) { batch throws(VaultError) in
          try batch.put("twin", for: Self.composed + " twin")
        }
      }
      let vault = try Vault.sample(at: directory + "/vault.spv", groups: [.sample(), contents])
      let id = try vault.group(named: "foreign").id
      try vault.rewrite { (draft, _) throws(VaultError) in
        try draft.rename(id, to: Vault.Name(verbatim: Array(group.utf8)))
        return nil
      }
      try body(vault, try Vault.Name(service.text), try vault.group(named: group))
    }
  }

  private func text(_ key: String, _ vault: Vault, _ service: Vault.Name, _ group: AccessGroup) throws -> String? {
    try vault.withValue(service: service, key: key, in: group) { String($1) }
  }

  @Test func `a record is moved from and to exactly the name that is listed`() throws {
    try withForeignVault { vault, service, group in
      try vault.copy(Self.decomposed + " alone", of: service, to: "plain", of: service, in: group, isMove: true)
      try vault.copy("plain", of: service, to: Self.decomposed, of: service, in: group, isMove: true, replaces: true)

      let keys = try vault.keys(service: service, in: group)
      #expect(keys.map { Array($0.utf8) } == [Self.decomposed, Self.composed].map { Array($0.utf8) })
      #expect(try keys.map { try text($0, vault, service, group) } == ["alone", "composed"])
    }
  }

  @Test func `each key that is listed is read by exactly its name`() throws {
    try withForeignVault { vault, service, group in
      let keys = try vault.keys(service: service, in: group)

      #expect(
        keys.map { Array($0.utf8) }
          == [Self.decomposed, Self.decomposed + " alone", Self.composed].map { Array($0.utf8) })
      #expect(try keys.map { try text($0, vault, service, group) } == ["decomposed", "alone", "composed"])
      for key in keys {
        #expect(try vault.kind(service: service, key: key, in: group) == .string)
        #expect(try vault.record(service: service, key: key, in: group)?.key.utf8 == Array(key.utf8))
      }
    }
  }

  @Test func `a snapshot lists the keys that the service lists`() throws {
    try withForeignVault(alsoComposed: true) { vault, service, group in
      for service in [service, try Vault.Name("di\u{EB}nst")] {
        let keys = try vault.keys(service: service, in: group)
        let inSnapshot = try vault.keys(in: vault.takeRecords(service: service, in: group))

        #expect(inSnapshot.map { Array($0.utf8) } == keys.map { Array($0.utf8) })
      }
    }
  }

  @Test func `a foreign name is removed by exactly its name, and its twin stays`() throws {
    try withForeignVault { vault, service, group in
      let removed = try vault.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.remove(Self.decomposed)
      }

      #expect(removed == 1)
      #expect(try vault.keys(service: service, in: group).map { Array($0.utf8) }.last == Array(Self.composed.utf8))
      #expect(try text(Self.decomposed, vault, service, group) == "composed")
    }
  }

  @Test func `a foreign name is set, edited and restored where it is`() throws {
    try withForeignVault { vault, service, group in
      let key = Self.decomposed + " alone"
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in
        var edit = RecordEdit()
        edit.historyDepth = .set(1)
        try batch.edit(key, edit)
      }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.set("new", forKey: key)
      }
      #expect(try text(key, vault, service, group) == "new")

      let kept = try #require(try vault.record(service: service, key: key, in: group)?.previous.first)
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.restore(key, revision: kept.revision)
      }

      #expect(try text(key, vault, service, group) == "alone")
      #expect(try vault.keys(service: service, in: group).count == 3)
    }
  }

  @Test func `a name that is nowhere as it is spelled is its normal form`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      try vault.set("v", forKey: Self.decomposed)

      #expect(try vault.records(in: vault.group()).first?.key.utf8 == Array(Self.composed.utf8))
      #expect(try vault.text(Self.decomposed) == "v")
      #expect(try vault.text(Self.composed) == "v")
      #expect(try vault.remove(Self.decomposed) == 1)
    }
  }

  @Test func `a locked vault reads what stays readable by either spelling`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      let group = try vault.group()
      try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        let value: [UInt8] = [0x76]
        try batch.set(value.span.bytes, kind: .string, forKey: Self.composed, accessibility: .afterFirstUnlock)
      }
      vault.lock()

      #expect(try text(Self.decomposed, vault, Vault.Name("db"), group) == "v")
      #expect(refusal { try text(Self.decomposed + "!", vault, Vault.Name("db"), group) } == .locked)
    }
  }
}

extension Vault.Transaction {
  /// Adds a record whose name is written as it is.
  fileprivate mutating func put(_ text: String, for key: String) throws(VaultError) {
    let (value, key) = (Array(text.utf8), try Vault.Name(verbatim: Array(key.utf8)))
    try set(value.span.bytes, kind: .string, for: key, accessibility: nil, edit: RecordEdit(), ifRevision: nil)
  }
}
