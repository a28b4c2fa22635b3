import FoundationEssentials
import PreferenceLayerLaws
import Preferences
import Testing

struct LayerLawTests {
  private static func failure(seed: UInt64) throws -> String? {
    try LayerLaw.failure(seed: seed) { random in
      if random.chance(30) { return (SealedPreferences(), "sealed") }
      return (DictionaryPreferences(), "dictionary")
    }
  }

  /// `PREFERENCES_LAYER_SEED=7 swift test --filter LayerLawTests` tries one seed again, and `=random` other stacks at
  /// each run. Without it they are the same each time, so that what a change breaks is that change's doing.
  /// `Scripts/soak` tries more of them.
  @Test func `random stacks of layers do what a plain model does`() throws {
    let wish = ProcessInfo.processInfo.environment["PREFERENCES_LAYER_SEED"]
    if let seed = wish.flatMap({ UInt64($0) }) {
      if let failure = try Self.failure(seed: seed) { Issue.record("seed \(seed): \(failure)") }
      return
    }
    let first = wish == "random" ? UInt64.random(in: 1...UInt64(UInt32.max)) << 16 : 1
    for seed in first..<first + 2_000 * LayerLaw.soakFactor {
      if let failure = try Self.failure(seed: seed) {
        Issue.record("PREFERENCES_LAYER_SEED=\(seed): \(failure)")
        return
      }
    }
  }
}
