internal import Synchronization
internal import VaultSealing

/// The state of a vault's file, shared by the readers and the writer of one ``Vault``.
final class VaultHandle: Sendable {
  struct Loaded: Sendable {
    var state: VaultState
    /// Readers that nobody uses right now.
    var idleReaders: [ValueReader] = []
  }

  let path: VaultPath
  let options: Vault.Options
  let loaded: Mutex<Loaded>
  let forkGuard = ForkGuard()

  init(_ state: VaultState) {
    path = state.path
    options = state.options
    state.dropImage()
    loaded = Mutex(Loaded(state: state))
  }

  /// Runs `body` on the state of the file as it is now.
  func withCurrent<R>(_ body: (inout Loaded) throws(VaultError) -> R) throws(VaultError) -> R {
    try forkGuard.check()
    return try loaded.withLock { (loaded) throws(VaultError) in
      if try loaded.state.refresh() == .replaced { try reload(&loaded) }
      return try body(&loaded)
    }
  }

  /// A reader for one caller, who gives it back.
  func takeReader(_ loaded: inout Loaded) throws(VaultError) -> ValueReader {
    if let idle = loaded.idleReaders.popLast() { return idle }
    return try ValueReader(random: options.random)
  }

  func giveBack(_ reader: ValueReader) { loaded.withLock { $0.idleReaders.append(reader) } }

  /// Loads anew with the cached key of the slot. On failure the old state stays, and the next use tries again.
  func reload(_ loaded: inout Loaded) throws(VaultError) {
    let unlocked = loaded.state.unlocked
    let state = try VaultState.load(path: path, options: options, sealer: loaded.state.sealer) {
      (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer)
    }
    state.dropImage()
    loaded.state = state
  }
}
