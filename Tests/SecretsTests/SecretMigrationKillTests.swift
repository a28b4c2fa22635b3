import Foundation
import Glibc
import Secrets
import Testing

/// A process that is killed while it moves secrets.
struct SecretMigrationKillTests {
  private static func open(in folder: String) throws -> SecretPreferences {
    let key = try Data(contentsOf: URL(filePath: folder + "/key")).withUnsafeBytes { try SealingKey(copying: $0) }
    return try SecretPreferences(service: "shop", in: Vault.open(at: folder + "/vault.spv", credential: .key(key)))
  }

  @Test(arguments: ["reading", "erasing"])
  func `a process that is killed loses nothing, and the next one finishes`(step: String) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    let key = try SealingKey(from: .system)
    try key.withUnsafeBytes { try Data($0).write(to: URL(filePath: folder.path + "/key")) }
    _ = try await Vault.create(at: folder.path + "/vault.spv", slots: [NewSlot(.key(key))])
    let text = "A='first value'\nPORT=80\nB=second\n"
    try Data(text.utf8).write(to: URL(filePath: folder.path + "/.env"))

    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, step = step as String] in
      let tokens = try SecretMigrationKillTests.open(in: path)
      let source = StoppingStore(try DotenvPreferences(at: path + "/.env")) {
        if step == "erasing" { kill(getpid(), SIGKILL) }
      }
      try await tokens.move(["A": "a", "B": "b"], from: source) { name, value in
        if step == "reading", name == "B" { kill(getpid(), SIGKILL) }
        return value
      }
    }
    let tokens = try Self.open(in: folder.path)
    #expect(try String(contentsOfFile: folder.path + "/.env", encoding: .utf8) == text)
    #expect(try tokens.keys() == (step == "reading" ? [] : ["a", "b"]))

    let migration = try await tokens.move(["A": "a", "B": "b"], from: try DotenvPreferences(at: folder.path + "/.env"))
    #expect(migration.sealed.count == (step == "reading" ? 2 : 0) && migration.missing == [])
    #expect(try tokens.string(forKey: "a") == "first value")
    #expect(try tokens.string(forKey: "b") == "second")
    #expect(try String(contentsOfFile: folder.path + "/.env", encoding: .utf8) == "PORT=80\n")
  }
}
