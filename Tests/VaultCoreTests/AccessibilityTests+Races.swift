import Testing
import VaultSealing

@testable import VaultCore

/// What comes between sealing a value for a class and writing it.
extension EveryStorage.AccessibilityTests {
  @Test(arguments: Vault.Accessibility.allCases, Vault.Accessibility.allCases)
  func `a set that keeps the class is sealed again when another handle changed it meanwhile`(
    from old: Vault.Accessibility, to new: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: old)
      let other = try Vault.opened(at: path, options: .device(seed: "other"))
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: nil)
        if fills == 0 { try other.set("theirs", forKey: "key", as: new) }
        fills += 1
      }

      #expect(fills == 1)
      for vault in [vault, try Vault.opened(at: path, options: .device())] {
        #expect(try vault.accessibility("key") == new)
        #expect(try vault.text("key") == "mine")
      }
    }
  }

  @Test func `a set that keeps the class is sealed again when another handle made the record meanwhile`() throws {
    try Self.with { vault, path in
      let other = try Vault.opened(at: path, options: .device(seed: "other"))
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: nil)
        if fills == 0 { try other.set("theirs", forKey: "key", as: .afterFirstUnlock) }
        fills += 1
      }

      #expect(fills == 1)
      #expect(try Vault.opened(at: path).accessibility("key") == .afterFirstUnlock)
      #expect(try Vault.opened(at: path).text("key") == "mine")
    }
  }

  @Test func `a set that keeps the class is sealed again when another handle removed the record meanwhile`() throws {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: .afterFirstUnlock)
      let other = try Vault.opened(at: path, options: .device(seed: "other"))
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: nil)
        if fills == 0 { try other.remove("key") }
        fills += 1
      }

      #expect(fills == 1)
      #expect(try Vault.opened(at: path).accessibility("key") == .whenUnlocked)
      #expect(try Vault.opened(at: path).text("key") == "mine")
    }
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `a set with a class wins over another handle's change of the class, and is sealed once`(
    accessibility: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: .whenUnlocked)
      let other = try Vault.opened(at: path, options: .device(seed: "other"))
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: accessibility)
        if fills == 0 { try other.set("theirs", forKey: "key", as: .afterFirstUnlock) }
        fills += 1
      }

      #expect(fills == 1)
      #expect(try Vault.opened(at: path).accessibility("key") == accessibility)
      #expect(try Vault.opened(at: path, options: .device()).text("key") == "mine")
    }
  }

  @Test(arguments: EveryStorage.RotationTests.Rotation.allCases, Vault.Accessibility.allCases)
  func `a value is sealed again when its group was rotated before it is written`(
    rotation: EveryStorage.RotationTests.Rotation, accessibility: Vault.Accessibility
  ) throws {
    try Self.with { vault, path in
      let other = try Vault.opened(at: path, options: .sample(seed: "other"))
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: accessibility)
        if fills == 0 {
          let result = Result { try rotation.run(other) }
          if case .failure(let error as VaultError) = result { throw error }
        }
        fills += 1
      }

      #expect(fills == 1)
      for vault in [vault, try Vault.opened(at: path, options: .device())] {
        #expect(try vault.accessibility("key") == accessibility)
        #expect(try vault.text("key") == "mine")
      }
    }
  }

  @Test func `a class changed in the same handle between sealing and writing is noticed`() throws {
    try Self.with { vault, path in
      try vault.set("old", forKey: "key", as: .whenUnlocked)
      var fills = 0

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("mine", forKey: "key", as: nil)
        if fills == 0 { try vault.set("theirs", forKey: "key", as: .afterFirstUnlock) }
        fills += 1
      }

      #expect(fills == 1)
      #expect(try Vault.opened(at: path).accessibility("key") == .afterFirstUnlock)
      #expect(try Vault.opened(at: path).text("key") == "mine")
    }
  }

  @Test func `writers that keep the class and writers that change it lose nothing and leave every value readable`()
    throws
  {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path, options: .device(reserve: 32 << 10))
      try onThreads(4) { number in
        let vault = try Vault.opened(at: path, options: .device(seed: "writer \(number)", reserve: 32 << 10))
        for round in 0..<25 {
          let accessibility = number < 2 ? nil : Vault.Accessibility.allCases[(round + number) % 4]
          try vault.set("\(number) \(round)", forKey: "shared", as: accessibility)
          try vault.set("\(number) \(round)", forKey: "own \(number)", as: accessibility)
          #expect(try vault.text("own \(number)") == "\(number) \(round)")
        }
      }

      let again = try Vault.opened(at: path, options: .device())
      #expect(try again.verify().values == 6)
      for number in 0..<4 { #expect(try again.text("own \(number)") == "\(number) 24") }
    }
  }
}
