import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// The classes that say when a value can be read (`Docs/Format.md` section 7), and how a record comes by one.
  struct AccessibilityTests {}
}

extension EveryStorage.AccessibilityTests {
  /// A vault whose handle has the device key.
  static func with(_ body: (_ vault: Vault, _ path: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path, options: .device()), path)
    }
  }

  /// Values that the record keeps, newest first.
  static func kept(_ key: String, _ vault: Vault) throws -> [String?] {
    let record = try #require(try vault.record(service: Vault.Name("db"), key: key, in: vault.group()))
    return try record.previous.map { previous in
      try vault.withValue(of: record, previous: previous.revision, in: vault.group()) { _, bytes in
        String(bytes)
      }
    }
  }

  // MARK: Setting

  @Test(arguments: Vault.Accessibility.allCases)
  func `a new record has the class it is set with`(accessibility: Vault.Accessibility) throws {
    try Self.with { vault, path in
      try vault.set("value", forKey: "key", as: accessibility)

      for vault in [vault, try Vault.opened(at: path, options: .device())] {
        #expect(try vault.accessibility("key") == accessibility)
        #expect(try vault.text("key") == "value")
      }
    }
  }

  @Test func `a new record that is set without a class is whenUnlocked`() throws {
    try Self.with { vault, _ in
      try vault.set("value", forKey: "key", as: nil)

      #expect(try vault.accessibility("key") == .whenUnlocked)
    }
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `a set without a class keeps the one that the record has`(accessibility: Vault.Accessibility) throws {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: accessibility)

      try vault.set("new", forKey: "key", as: nil)

      #expect(try vault.accessibility("key") == accessibility)
      #expect(try Vault.opened(at: path, options: .device()).text("key") == "new")
    }
  }

  @Test(arguments: Vault.Accessibility.allCases, Vault.Accessibility.allCases)
  func `a set with a class gives the record that class`(from old: Vault.Accessibility, to new: Vault.Accessibility)
    throws
  {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: old)

      try vault.set("new", forKey: "key", as: new)

      let again = try Vault.opened(at: path, options: .device())
      #expect(try again.accessibility("key") == new)
      #expect(try again.text("key") == "new")
      #expect(try again.verify().values == 2)
    }
  }

  @Test func `a record that was removed leaves no class to the next of its name`() throws {
    try Self.with { vault, _ in
      try vault.set("old", forKey: "key", as: .afterFirstUnlock)
      try vault.remove("key")

      try vault.set("new", forKey: "key", as: nil)

      #expect(try vault.accessibility("key") == .whenUnlocked)
    }
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `an edit keeps the class and the value`(accessibility: Vault.Accessibility) throws {
    try Self.with { vault, _ in
      try vault.set("value", forKey: "key", as: accessibility)
      var edit = RecordEdit()
      edit.label = .set("label")

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.edit("key", edit)
      }

      #expect(try vault.accessibility("key") == accessibility)
      #expect(try vault.text("key") == "value")
    }
  }

  @Test func `the records of one batch have each its own class`() throws {
    try Self.with { vault, path in
      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        for accessibility in Vault.Accessibility.allCases {
          try batch.set(accessibility.name, forKey: accessibility.name, as: accessibility)
        }
      }

      let again = try Vault.opened(at: path, options: .device())
      for accessibility in Vault.Accessibility.allCases {
        #expect(try again.accessibility(accessibility.name) == accessibility)
        #expect(try again.text(accessibility.name) == accessibility.name)
      }
    }
  }

  @Test func `of two sets of one key in a batch the later decides about the class`() throws {
    try Self.with { vault, _ in
      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("first", forKey: "key", as: .afterFirstUnlock)
        try batch.set("second", forKey: "key", as: .whenUnlockedThisDeviceOnly)
      }

      #expect(try vault.accessibility("key") == .whenUnlockedThisDeviceOnly)
      #expect(try vault.text("key") == "second")
    }
  }

  @Test func `a group that a vault is created with has records of every class`() throws {
    try TemporaryDirectory.with { directory in
      let group = NewGroup("default", service: "db") { batch throws(VaultError) in
        for accessibility in Vault.Accessibility.allCases {
          try batch.set("value", forKey: accessibility.name, as: accessibility)
        }
      }
      let vault = try Vault.sample(at: directory + "/vault.spv", groups: [group], options: .device())

      for accessibility in Vault.Accessibility.allCases {
        #expect(try vault.accessibility(accessibility.name) == accessibility)
        #expect(try vault.text(accessibility.name) == "value")
      }
    }
  }

  // MARK: Device key

  private static let deviceClasses = Vault.Accessibility.allCases.filter(\.isThisDeviceOnly)

  @Test(arguments: deviceClasses)
  func `row 60: without the device key a value is neither set nor read, and nothing is written`(
    accessibility: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("value", forKey: "key", as: accessibility)
      let without = try Vault.opened(at: path)

      #expect(refusal { try without.text("key") } == .deviceKeyMissing)
      try expectRefused(.deviceKeyMissing, at: path) { try without.set("new", forKey: "key", as: nil) }
      try expectRefused(.deviceKeyMissing, at: path) { try without.set("new", forKey: "other", as: accessibility) }
      #expect(try without.accessibility("key") == accessibility)
    }
  }

  @Test(arguments: deviceClasses)
  func `row 60: with another device key a value is wrongDevice, and can be set anew`(
    accessibility: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("value", forKey: "key", as: accessibility)
      let other = try Vault.opened(at: path, options: .device(0x81))

      #expect(refusal { try other.text("key") } == .wrongDevice)
      try other.set("new", forKey: "key", as: nil)
      #expect(try other.text("key") == "new")
      #expect(refusal { try vault.text("key") } == .wrongDevice)
    }
  }

  @Test func `without the device key a record is moved to a class that needs none`() throws {
    try Self.with { vault, path in
      try vault.set("value", forKey: "key", as: .whenUnlockedThisDeviceOnly)
      let without = try Vault.opened(at: path)

      try without.set("new", forKey: "key", as: .whenUnlocked)

      #expect(try without.text("key") == "new")
    }
  }

  @Test func `verify counts values whose device layer it cannot open`() throws {
    try Self.with { vault, path in
      for accessibility in Vault.Accessibility.allCases {
        try vault.set("value", forKey: accessibility.name, as: accessibility)
      }

      let without = try Vault.opened(at: path).verify()
      #expect(without.values == 3)
      #expect(without.deviceValues == 2)
      #expect(try vault.verify().values == 5)
      #expect(refusal { try Vault.opened(at: path, options: .device(0x81)).verify() } == .wrongDevice)
    }
  }

  // MARK: Rewriting

  enum Rewriting: String, CaseIterable, Sendable {
    case compact, long = "a long value", rotate, rotateVault, rotateWithoutDeviceKey

    func run(_ vault: Vault, _ path: String) throws {
      switch self {
      case .compact: try vault.compact()
      case .long: try vault.fold()
      case .rotate: try vault.rotate(vault.group())
      case .rotateVault: try vault.rotateVault()
      case .rotateWithoutDeviceKey: try Vault.opened(at: path).rotateVault()
      }
    }
  }

  @Test(arguments: Rewriting.allCases)
  func `row 60: classes, values and history of every class survive a full write`(rewriting: Rewriting) throws {
    try Self.with { vault, path in
      for accessibility in Vault.Accessibility.allCases {
        try vault.set("old", forKey: accessibility.name, as: accessibility, edit: .keeping(1))
        try vault.set("new", forKey: accessibility.name, as: nil)
      }

      try rewriting.run(vault, path)

      for vault in [vault, try Vault.opened(at: path, options: .device())] {
        for accessibility in Vault.Accessibility.allCases {
          #expect(try vault.accessibility(accessibility.name) == accessibility)
          #expect(try vault.text(accessibility.name) == "new")
          #expect(try Self.kept(accessibility.name, vault) == ["old"])
        }
      }
    }
  }

  // MARK: History

  @Test(
    arguments: [
      (.whenUnlocked, .afterFirstUnlock), (.afterFirstUnlock, .whenUnlocked),
      (.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly),
      (.afterFirstUnlockThisDeviceOnly, .whenUnlockedThisDeviceOnly),
    ] as [(Vault.Accessibility, Vault.Accessibility)])
  func `row 75: kept values follow a record to a class of the same layers`(
    old: Vault.Accessibility, new: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("1", forKey: "key", as: old, edit: .keeping(3))
      try vault.set("2", forKey: "key", as: nil)

      try vault.set("3", forKey: "key", as: new)

      let again = try Vault.opened(at: path, options: .device())
      #expect(try again.accessibility("key") == new)
      #expect(try again.text("key") == "3")
      #expect(try Self.kept("key", again) == ["2", "1"])
      #expect(try again.verify().previousValues == 2)
    }
  }

  @Test func `row 75: kept values follow a record to another class and back`() throws {
    try Self.with { vault, path in
      try vault.set("1", forKey: "key", as: .whenUnlocked, edit: .keeping(9))
      for (number, accessibility) in [Vault.Accessibility.afterFirstUnlock, .whenUnlocked, .afterFirstUnlock]
        .enumerated()
      {
        try vault.set("\(number + 2)", forKey: "key", as: accessibility)
      }

      #expect(try Self.kept("key", Vault.opened(at: path)) == ["3", "2", "1"])
    }
  }

  @Test(
    arguments: [
      (.whenUnlocked, .whenUnlockedThisDeviceOnly), (.whenUnlockedThisDeviceOnly, .whenUnlocked),
      (.afterFirstUnlock, .whenUnlockedThisDeviceOnly), (.afterFirstUnlockThisDeviceOnly, .afterFirstUnlock),
    ] as [(Vault.Accessibility, Vault.Accessibility)])
  func `row 75: a record that gains or loses the device layer drops its kept values and the replaced one`(
    old: Vault.Accessibility, new: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("1", forKey: "key", as: old, edit: .keeping(3))
      try vault.set("2", forKey: "key", as: nil)

      try vault.set("3", forKey: "key", as: new)

      let again = try Vault.opened(at: path, options: .device())
      #expect(try again.text("key") == "3")
      #expect(try Self.kept("key", again).isEmpty)
      // The depth stays, so the next value is kept again.
      try again.set("4", forKey: "key", as: nil)
      #expect(try Self.kept("key", again) == ["3"])
    }
  }

  @Test func `kept values of another device follow from one device class to the other, and stay bound to it`() throws {
    try Self.with { vault, path in
      try vault.set("1", forKey: "key", as: .whenUnlockedThisDeviceOnly, edit: .keeping(3))
      try vault.set("2", forKey: "key", as: nil)
      let other = try Vault.opened(at: path, options: .device(0x81))

      // The new value is bound to the other machine; what was kept stays bound to the first.
      try other.set("3", forKey: "key", as: .afterFirstUnlockThisDeviceOnly)

      #expect(try other.text("key") == "3")
      #expect(try Self.kept("key", vault) == ["2", "1"])
      #expect(refusal { try vault.text("key") } == .wrongDevice)
    }
  }

  @Test func `a kept value is restored in the class that the record has now`() throws {
    try Self.with { vault, path in
      try vault.set("1", forKey: "key", as: .whenUnlocked, edit: .keeping(3))
      try vault.set("2", forKey: "key", as: .afterFirstUnlock)
      let record = try #require(try vault.record(service: Vault.Name("db"), key: "key", in: vault.group()))
      let revision = try #require(record.previous.first).revision

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.restore("key", revision: revision)
      }

      let again = try Vault.opened(at: path)
      #expect(try again.accessibility("key") == .afterFirstUnlock)
      #expect(try again.text("key") == "1")
      #expect(try Self.kept("key", again) == ["2", "1"])
    }
  }

  // MARK: Names

  @Test func `every class has a name that names it`() throws {
    #expect(
      Vault.Accessibility.allCases.map(\.name) == [
        "whenUnlocked", "afterFirstUnlock", "whenUnlockedThisDeviceOnly", "afterFirstUnlockThisDeviceOnly",
      ])
    #expect(Vault.Accessibility.allCases.map(\.rawValue) == [0, 1, 2, 3])
    for accessibility in Vault.Accessibility.allCases {
      #expect(try Vault.Accessibility(named: accessibility.name) == accessibility)
    }
  }

  @Test(
    arguments: [
      "", "always", "alwaysThisDeviceOnly", "whenPasscodeSetThisDeviceOnly", "WhenUnlocked", "whenunlocked",
      "AFTERFIRSTUNLOCK", " whenUnlocked", "whenUnlocked\n", "whenUnlocked\0", "0", "ak",
      "kSecAttrAccessibleWhenUnlocked",
    ])
  func `item 119: every other name is refused`(name: String) {
    #expect(refusal { try Vault.Accessibility(named: name) } == .unsupportedAccessibility)
  }

  @Test func `the refusal says which names there are and does not repeat the one that was given`() throws {
    let error = #expect(throws: VaultError.self) { try Vault.Accessibility(named: "alwaysSomething") }
    let text = try #require(error).description
    for accessibility in Vault.Accessibility.allCases { #expect(text.contains(accessibility.name)) }
    #expect(!text.contains("alwaysSomething"))
  }
}
