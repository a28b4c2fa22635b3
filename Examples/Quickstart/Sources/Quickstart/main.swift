// Reads a sealed token beside plain settings: Scripts/quickstart makes the vault and runs this.
import FoundationEssentials
import Secrets

let directory = CommandLine.arguments.dropFirst().first ?? "."

// Unlocked by the key file that SECRETPREFS_KEY_FILE names. It fails here, or never for want of a key.
let vault = try Vault.open(at: directory + "/secrets.spv", unlocking: .automatic)
let tokens = try SecretPreferences(service: "com.example.shop", in: vault)

// The first layer that has the key wins; one that fails stops the lookup.
let preferences = CompositePreferences([
  tokens.claiming(.names(["github", "stripe"])),
  EnvironmentPreferences(prefix: "SHOP"),
  try PropertyListPreferences(at: directory + "/shop.plist").readOnly,
  DictionaryPreferences(["server.port": 8080, "greeting": "hello"], name: "defaults"),
])

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 80)
}

let github = try preferences.string(forKey: "github") ?? ""
let expected = try String(contentsOf: URL(filePath: directory + "/github.txt"), encoding: .utf8)
print("github       a token of \(github.count) characters, the one that was sealed: \(github == expected)")
print("server.port ", try preferences.value(for: .port))
print("currency    ", try preferences.string(forKey: "currency") ?? "absent")
print("stripe       present in the vault: \(try tokens.contains("stripe"))")
print()
for key in ["github", "server.port", "currency"] {
  print(try preferences.explain(key))
  print()
}
