internal import Synchronization

/// What happens to a watched file before its watcher is notified.
package enum FileMoment: Sendable {
  /// It is replaced, or its writer closes it: its content is complete.
  case whenWhole
  /// Bytes are written. For files that are complete after every write.
  case eachWrite
}

/// What happened in a watched folder.
struct FolderEvent: Sendable {
  /// The file that may have changed; `nil` if it may be any.
  var name: String?
  /// Whether no event follows, because the folder does not exist any more.
  var isLast = false
}

/// Notifies when a path may lead to a different file, or its file may have a different content.
///
/// Watches the folder of the path, because most programs save a file by putting a new one in its place, and the folder
/// of the file that a link leads to.
package final class FileWatch<Failure: FileFailure>: Sendable {
  /// Summarises the events that were not handled yet.
  private struct Pending {
    /// Whether an event names the file.
    var isNamed = false
    var isLast = false
  }

  private struct State {
    /// `nil` when the watch has ended.
    var events: FolderEvents?
    /// The file that the path led to.
    var target: String?
    var pending: Pending? = Pending()
    /// Whether a thread handles what is pending. It then also handles what arrives meanwhile.
    var isHandling = true
  }

  private let path: String
  private let notify: @Sendable () -> Void
  private let state = Mutex(State())

  /// Watches from now on.
  ///
  /// - Parameter notify: called on a thread that handles only this watch, one call at a time, so it may block. Changes
  ///   during a call lead to one more call.
  package init(
    _ path: String, _ moment: FileMoment = .whenWhole, _ notify: @escaping @Sendable () -> Void
  ) throws(Failure) {
    (self.path, self.notify) = (path, notify)
    let events = try FolderEvents(of: path, moment, failing: Failure.self) { [self] in receive($0) }
    state.withLock { $0.events = events }
    // Finds the target before a caller reads the file, so that no change of the target is missed.
    handle {}
  }

  /// Ends the watch; a call of `notify` that has begun may still be running.
  package func stop() {
    let events = state.withLock { state in
      defer { state.events = nil }
      return state.events
    }
    events?.stop()
  }

  private func receive(_ event: FolderEvent) {
    let begins = state.withLock { state in
      let names = [path, state.target].compactMap(\.self).map { PathName.last(of: $0) }
      var pending = state.pending ?? Pending()
      if event.name.map(names.contains) ?? true { pending.isNamed = true }
      if event.isLast { pending.isLast = true }
      state.pending = pending
      defer { state.isHandling = true }
      return !state.isHandling
    }
    // If the system provides no thread, observers of other watches wait for those of this one, which is better than
    // silence.
    if begins { HelperThread.run { [self] in handle(notify) } }
  }

  private func handle(_ notify: () -> Void) {
    while let (events, pending) = next() {
      // If a link has changed, this is a different file.
      let present = PathName.resolved(path)
      if let present { events.watch(present) }
      let isChanged = state.withLock { state in
        defer { state.target = present }
        return state.events != nil && (pending.isNamed || state.target != present)
      }
      if isChanged { notify() }
      if pending.isLast { stop() }
    }
  }

  private func next() -> (FolderEvents, Pending)? {
    state.withLock { state in
      guard let events = state.events, let pending = state.pending else {
        state.isHandling = false
        return nil
      }
      state.pending = nil
      return (events, pending)
    }
  }
}
