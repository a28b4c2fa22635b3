import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Copies and moves of records to a different name.
  struct CopyingTests {}
}

extension EveryStorage.CopyingTests {
  private func with(
    options: Vault.Options = .sample(), _ body: (Vault, AccessGroup, String) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, options: options)
      try body(vault, try vault.group(), path)
    }
  }

  /// What a record has besides its name, revision and time of change.
  private struct Content: Equatable {
    let metadata: [[UInt8]]
    let values: [[UInt8]?]
    let times: [Int64]
    let revisions: [UInt64]
    let accessibility: Vault.Accessibility
    let kinds: [ValueKind]

    init(_ vault: Vault, _ key: String, service: String = "db") throws {
      let record = try #require(try vault.record(service: Vault.Name(service), key: key, in: vault.group()))
      metadata = record.extensionItems.map { [UInt8(truncatingIfNeeded: $0.tag)] + $0.data }
      values = try ([nil] + record.previous.map(\.revision)).map { revision in
        try vault.withValue(of: record, previous: revision, in: vault.group()) { $1.copy }
      }
      times = [record.created] + record.previous.map(\.modified)
      revisions = record.previous.map(\.revision)
      accessibility = record.accessibility
      kinds = [record.kind] + record.previous.map(\.kind)
    }
  }

  private func copy(
    _ vault: Vault, _ key: String, to newKey: String, of newService: String = "db", isMove: Bool = false,
    replaces: Bool = false, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try vault.copy(
      key, of: Vault.Name("db"), to: newKey, of: Vault.Name(newService), in: vault.group(), isMove: isMove,
      replaces: replaces, ifRevision: revision)
  }

  /// Sets three values of different kinds under `key`, with every kind of metadata.
  private func fill(_ vault: Vault, _ key: String, as accessibility: Vault.Accessibility) throws {
    var edit = RecordEdit.keeping(2)
    edit.label = .set("Läbel")
    edit.comment = .set("comment")
    edit.expiry = .set(5)
    edit.attributes = .set([try .init("owner", [0, 255])])
    try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
      try batch.set("first", forKey: key, as: accessibility, edit: edit)
    }
    try vault.set([1, 2], forKey: key)
    try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
      try batch.set("", forKey: key, as: nil, edit: edit)
    }
  }

  @Test(arguments: Vault.Accessibility.allCases, [false, true])
  func `a copy has everything of its record`(_ accessibility: Vault.Accessibility, _ isMove: Bool) throws {
    try with(options: try .device()) { vault, _, path in
      try fill(vault, "key", as: accessibility)
      let before = try Content(vault, "key")
      try #require(before.values == [[], [1, 2], Array("first".utf8)] && before.metadata.count == 5)

      try copy(vault, "key", to: "nëw", of: "other", isMove: isMove)

      for vault in [vault, try Vault.opened(at: path, options: try .device(seed: "again"))] {
        #expect(try Content(vault, "nëw", service: "other") == before)
        #expect(try vault.allKeys() == (isMove ? ["password"] : ["key", "password"]))
        if !isMove { #expect(try Content(vault, "key") == before) }
      }
    }
  }

  @Test func `a copy is a change of its own revision and time, and keeps collecting earlier values`() throws {
    let clock = Atomic<Int64>(1000)
    var options = Vault.Options.sample()
    options.now = { clock.load(ordering: .relaxed) }
    try with(options: options) { vault, group, _ in
      try fill(vault, "key", as: .whenUnlocked)
      let before = try #require(try vault.record(service: Vault.Name("db"), key: "key", in: group))
      clock.store(2000, ordering: .relaxed)

      try copy(vault, "key", to: "new", isMove: true)

      let after = try #require(try vault.record(service: Vault.Name("db"), key: "new", in: group))
      #expect(after.revision == before.revision + 1)
      #expect(after.modified == 2000)
      try vault.set("next", forKey: "new")
      #expect(try Content(vault, "new").revisions == [after.revision, before.revision - 1])
    }
  }

  @Test func `a copy survives a full write, and is one when it is too long for the journal`() throws {
    try with { vault, _, path in
      try vault.set([UInt8](repeating: 7, count: 1 << 20), forKey: "key")
      try copy(vault, "key", to: "new", isMove: true)
      try vault.compact()
      #expect(try Vault.opened(at: path).bytes("new") == [UInt8](repeating: 7, count: 1 << 20))
      #expect(try vault.allKeys() == ["new", "password"])
    }
  }

  @Test func `an existing record is replaced on request only, with its earlier values`() throws {
    try with { vault, _, path in
      try fill(vault, "key", as: .whenUnlocked)
      try fill(vault, "taken", as: .afterFirstUnlock)
      try vault.set("other", forKey: "taken")
      let (before, source) = (try VaultBytes.read(path), try Content(vault, "key"))

      for isMove in [false, true] {
        #expect(refusal { try copy(vault, "key", to: "taken", isMove: isMove) } == .alreadyExists)
        #expect(refusal { try copy(vault, "key", to: "key", isMove: isMove, replaces: true) } == .alreadyExists)
      }
      #expect(try VaultBytes.read(path) == before)

      try copy(vault, "key", to: "taken", isMove: true, replaces: true)
      #expect(try Content(vault, "taken") == source)
      #expect(try vault.allKeys() == ["password", "taken"])
    }
  }

  @Test func `a record that is missing or has a different revision is not copied`() throws {
    try with { vault, group, path in
      let revision = try #require(try vault.record(service: Vault.Name("db"), key: "password", in: group)?.revision)
      let before = try VaultBytes.read(path)
      for isMove in [false, true] {
        #expect(refusal { try copy(vault, "nothing", to: "new", isMove: isMove) } == .notFound)
        #expect(
          refusal { try copy(vault, "password", to: "new", isMove: isMove, ifRevision: revision + 1) } == .conflict)
      }
      #expect(try VaultBytes.read(path) == before)
      try copy(vault, "password", to: "new", isMove: true, ifRevision: revision)
      #expect(try vault.text("new") == "s3cret")
    }
  }

  @Test func `a value that is bound to a device is copied with its device key only`() throws {
    try with(options: try .device()) { vault, _, path in
      try vault.set("bound", forKey: "key", as: .whenUnlockedThisDeviceOnly)
      let before = try VaultBytes.read(path)
      for (first, code) in [(nil, VaultError.Code.deviceKeyMissing), (1, .wrongDevice)] as [(UInt8?, VaultError.Code)] {
        let other = try Vault.opened(at: path, options: try .device(first, seed: "\(code)"))
        #expect(refusal { try copy(other, "key", to: "new", isMove: true) } == code)
      }
      #expect(try VaultBytes.read(path) == before)
    }
  }

  @Test func `of two threads that move a record back and forth, one finds it, and nothing is lost`() throws {
    try with { vault, _, path in
      try onThreads(2) { number in
        let handle = try Vault.opened(at: path, options: .sample(seed: "mover \(number)"))
        for _ in 0..<20 {
          for names in [("password", "moved"), ("moved", "password")] {
            let code = refusal { try copy(handle, names.0, to: names.1, isMove: true) }
            #expect([nil, .notFound, .alreadyExists].contains(code))
            #expect(try handle.allKeys().count == 1)
          }
        }
      }
      let key = try #require(try vault.allKeys().first)
      #expect(try vault.text(key) == "s3cret")
    }
  }

  @Test func `copies of one handle in each other's place are not taken from before each other`() throws {
    try with { vault, _, _ in
      for _ in 0..<50 {
        try vault.set("a", forKey: "a")
        try vault.set("b", forKey: "b")
        // The last thread keeps the queue busy, so that the others' writes wait for each other.
        try onThreads(3) { number in
          if number == 2 { return try vault.set("c", forKey: "c") }
          try copy(vault, number == 0 ? "a" : "b", to: number == 0 ? "b" : "a", replaces: true)
        }
        #expect(try vault.text("a") == vault.text("b"))
      }
    }
  }
}
