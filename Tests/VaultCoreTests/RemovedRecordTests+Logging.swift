import Testing
@testable import VaultCore

// What the log has of removals.
extension EveryStorage.RemovedRecordTests {
  @Test func `a removal is logged as one, and a restore as one`() throws {
    try RemovedVault.with { sample in
      try sample.vault.setAuditing(.failClosed)
      try sample.vault.remove("password")
      try sample.restore()
      var actions: [AuditEvent.Action] = []
      _ = try sample.vault.readAuditLog(of: sample.group) { actions.append($0.action) }
      #expect(actions == [.start, .remove, .restore])
    }
  }

  @Test func `a removal of what is removed is neither written nor logged`() throws {
    try RemovedVault.with { sample in
      try sample.vault.setAuditing(.failClosed)
      try sample.vault.remove("password")
      try sample.vault.remove("password")
      var actions: [AuditEvent.Action] = []
      _ = try sample.vault.readAuditLog(of: sample.group) { actions.append($0.action) }
      #expect(actions == [.start, .remove])
    }
  }
}
