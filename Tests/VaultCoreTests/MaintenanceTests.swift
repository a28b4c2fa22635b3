import Foundation
import Testing
import VaultCore

/// Verification and backup.
struct MaintenanceTests {
  @Test func `verification counts what it opened`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/s.spv", options: .sample())
      for index in 0..<5 { try vault.set("v", forKey: "key \(index)") }
      let records = try vault.status().groups.reduce(0) { $0 + $1.recordCount }

      let report = try vault.verify()

      #expect(report.values == records)
      #expect(report.status.entryCount == 5)
      #expect(report.previousValues == 0)
    }
  }

  @Test func `a backup opens and holds the same while others write`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/s.spv", options: .sample())
      let writer = try Vault.opened(at: directory + "/s.spv")
      for index in 0..<20 {
        try writer.set("\(index)", forKey: "key")
        let copy = directory + "/copies/\(index).spv"

        try vault.backUp(to: copy)

        #expect(try FileBytes.status(copy).st_mode & 0o777 == 0o600)
        #expect(try Vault.opened(at: copy).text("key") == "\(index)")
        #expect(try Vault.opened(at: copy).verify().status.hasTornTail == false)
      }
    }
  }

  @Test func `a backup never replaces anything`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/s.spv", options: .sample())
      try FileBytes.write([1, 2, 3], to: directory + "/there")

      #expect(refusal { try vault.backUp(to: directory + "/there") } == .alreadyExists)
      #expect(refusal { try vault.backUp(to: directory + "/s.spv") } == .alreadyExists)
      #expect(try FileBytes.read(directory + "/there") == [1, 2, 3])
    }
  }

  @Test func `a damaged vault is not backed up`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/s.spv"
      let vault = try Vault.sample(at: path, options: .sample())
      var bytes = try FileBytes.read(path)
      bytes[100] ^= 1
      try FileBytes.write(bytes, to: path)

      #expect(refusal { try vault.backUp(to: directory + "/copy.spv") } == .damaged)
      #expect(!FileManager.default.fileExists(atPath: directory + "/copy.spv"))
    }
  }
}
