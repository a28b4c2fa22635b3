internal import Synchronization

/// What happens to a watched file before its watcher is notified.
package enum FileMoment: Sendable {
  /// It is replaced, or its writer closes it: its content is whole.
  case whenWhole
  /// Bytes are written. For files that are whole after every write.
  case eachWrite
}

/// Notifies when a path may lead to a different file, or its file may have a different content.
///
/// Watches the folder of the path, because most programs save a file by putting a new one in its place, and the folder
/// of the file that a link leads to.
package final class FileWatch<Failure: FileFailure>: Sendable {
  private struct State {
    /// `nil` when the watch has ended.
    var events: FolderEvents?
    /// The file that the path led to.
    var target: String?
  }

  private let path: String
  private let notify: @Sendable () -> Void
  private let state: Mutex<State>

  /// Watches from now on, in a separate thread, which calls `notify`.
  package init(
    _ path: String, _ moment: FileMoment = .whenWhole, _ notify: @escaping @Sendable () -> Void
  ) throws(Failure) {
    (self.path, self.notify) = (path, notify)
    guard var events = FolderEvents(moment) else { throw Failure(.watch, path, errno: errno) }
    guard events.watchFirst(PathName.directory(of: path)) else {
      let error = errno
      events.close()
      throw Failure(.watchDirectory, path, errno: error)
    }
    // Before a caller reads the file, so that no change of it is missed.
    let target = PathName.resolved(path)
    if let target { events.watch(target) }
    state = Mutex(State(events: events, target: target))
    guard HelperThread.start({ self.run() }) else {
      let error = errno
      end()
      throw Failure(.watch, path, errno: error)
    }
  }

  /// Ends the watch; a call of `notify` that has begun may still be running.
  package func stop() {
    state.withLock { $0.events?.stop() }  // the thread gets the event that this makes
  }

  private func run() {
    let (events, first) = state.withLock { ($0.events, $0.target) }
    guard let events else { return }
    var target = first
    defer { end() }
    while let batch = events.next() {
      // After a link was changed this is a different file.
      let present = PathName.resolved(path)
      if let present { events.watch(present) }
      let names = Set([path, target, present].compactMap(\.self).map { PathName.last(of: $0) })
      if target != present || batch.isIncomplete || !names.isDisjoint(with: batch.names) { notify() }
      target = present
      if batch.isLast { return }
    }
  }

  private func end() {
    state.withLock { state in
      state.events?.close()
      state.events = nil
    }
  }
}
