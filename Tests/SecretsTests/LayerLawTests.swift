import Preferences
import PreferenceLayerLaws
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing

/// The laws of layers with stores that keep something: services of a vault, and files.
struct LayerLawTests {
  @Test func `random stacks of vaults, files and dictionaries do what a plain model does`() throws {
    for block in 0..<4 * Int(LayerLaw.soakFactor) {
      // Of many stacks, so that the vault has a past.
      let vault = try ThrowawayVault()
      let folder = try TemporaryFolder()
      for seed in UInt64(block) * 50..<UInt64(block + 1) * 50 {
        var count = 0
        let failure = try LayerLaw.failure(seed: seed) { random in
          count += 1
          switch random.number(below: 10) {
          case 0...3: return (try vault.preferences(service: "\(seed).\(count)"), "vault")
          case 4...5:
            let path = "\(folder.path)/\(seed).\(count).json"
            return (try JSONPreferences(at: path, options: .creating), "JSON file")
          case 6:
            let path = "\(folder.path)/\(seed).\(count).plist"
            return (try PropertyListPreferences(at: path, options: .creating), "property list file")
          default: return (DictionaryPreferences(), "dictionary")
          }
        }
        if let failure {
          Issue.record("seed \(seed): \(failure)")
          return
        }
      }
    }
  }
}
