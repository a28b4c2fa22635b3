internal import VaultSealing

extension ForkGuard {
  /// Refuses what a forked child has of its parent's (`Docs/Format.md` section 8). Two processes with one handle would draw
  /// the same nonces and fight over one lock; keys are zero in the child, and zero is no key.
  func check() throws(VaultError) {
    guard isOwn else {
      throw VaultError(.locked, "a vault, credential or key from before a fork; make it anew in the child")
    }
  }
}
