package import DurableFiles

extension ForkGuard {
  /// Refuses objects of the parent in a forked child (`Docs/Format.md` section 8). Two processes with one handle could
  /// use the same nonces and would share a lock, and the keys are zero in the child.
  package func check() throws(VaultError) {
    guard isOwn else {
      throw VaultError(.locked, "the vault, credential or key was created before a fork; create it again in the child")
    }
  }
}
