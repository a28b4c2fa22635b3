import Glibc
import Preferences
import Secrets
import VaultCore

/// A vault on the disk that the benchmarks run on, with records of 64-byte secrets.
struct Sample {
  static let service = "com.example.shop"
  let directory: String
  let key: SealingKey
  let vault: Vault
  let tokens: SecretPreferences
  let count: Int

  var path: String { directory + "/bench.spv" }

  static func key(_ index: Int) -> String {
    let digits = String(index)
    return "token-" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  static let secret = String(repeating: "s", count: 64)

  init(records count: Int, in parent: String) throws {
    var template = Array((parent + "/secretprefs-bench-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw VaultError(.io, "no directory for the benchmark", errno: errno) }
    // Absolute, as in the vault's own calls: the time of `stat` depends on the length of the path.
    guard let absolute = realpath(template, nil) else { throw VaultError(.io, "no directory", errno: errno) }
    defer { free(absolute) }
    directory = String(cString: absolute)
    key = try SealingKey(from: .system)
    self.count = count
    vault = try Vault.create(
      at: directory + "/bench.spv", slots: [NewSlot(.key(key))],
      groups: [
        NewGroup("default", service: Self.service) { batch throws(VaultError) in
          for index in 0..<count { try batch.set(.string(Self.secret), forKey: Self.key(index)) }
        }
      ])
    tokens = try SecretPreferences(service: Self.service, in: vault)
  }

  func reopened() throws -> Vault { try Vault.open(at: path, credential: .key(key)) }

  func remove() {
    let files = ["/bench.spv", "/bench.spv.tmp", "/bench.spv.calls", "/limit", "/set-limit"]
    for name in files { unlink(directory + name) }
    rmdir(directory)
  }
}
