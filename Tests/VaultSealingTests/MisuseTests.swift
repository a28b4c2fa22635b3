import Testing
import VaultSealing

/// Mistakes of the caller that end the process before anything is written in the wrong place.
struct MisuseTests {
  @Test func `a key of another length ends the process`() async {
    await #expect(processExitsWith: .failure) {
      _ = try run(31).withUnsafeBytes { try SealingKey(copying: $0) }
    }
  }

  @Test func `sealing without a context of its own ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let (sealer, key) = (try Sealer(), try SealingKey.annex())
      _ = sealer.sealed(run(1), with: key)
      _ = sealer.seal(run(1).span.bytes, with: key)
    }
  }

  @Test func `opening without room ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let (sealer, key) = (try Sealer(), try SealingKey.annex())
      var out = repeated(0, 2)
      _ = sealer.sealed(run(3), with: key).withUnsafeBytes { sealed in
        out.withUnsafeMutableBytes { sealer.open(sealed, with: key, into: $0) { _ in } }
      }
    }
  }

  @Test func `a salt of another length ends the process`() async {
    await #expect(processExitsWith: .failure) {
      _ = try PassphraseCost.stretch(run(1).span.bytes, salt: run(15), cost: .throwaway)
    }
  }

  @Test func `deriving more than BLAKE2b gives ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let (sealer, key) = (try Sealer(), try SealingKey.annex())
      _ = sealer.derived(65, "seal", from: key) { _ in }
    }
  }
}
