internal import Synchronization

/// What happens to a watched file before its watcher is notified.
package enum FileMoment: Sendable {
  /// It is replaced, or its writer closes it: its content is complete.
  case whenWhole
  /// Bytes are written. For files that are complete after every write.
  case eachWrite
}

/// What happened to the file of a watch, or on the way to it.
enum FolderEvent: Sendable {
  /// The file has a different content.
  case written
  /// A different file has the name, or none.
  case replaced
  /// The file got its name, and its content may not be complete.
  case created
  /// The path may lead to a different file.
  case moved
  /// It is time to look at what the system does not report.
  case looked
  /// No event follows, because other code has closed the system's descriptor.
  case last
}

/// Notifies when a path may lead to a different file, or its file may have a different content.
///
/// Watches every part of the path and of the links in it, because any of them may be replaced, and the file itself,
/// because it may be written under another name. Where the system reports no events, such as on a network file system,
/// looks at the file every two seconds.
package final class FileWatch<Failure: FileFailure>: Sendable {
  /// Summarises the events that were not handled yet.
  private struct Pending {
    var isWritten = false
    var isCreated = false
    var isMoved = false
    var isLooked = false
    var isLast = false
  }

  private struct State {
    /// `nil` when the watch has ended.
    var events: FolderEvents?
    /// The file that the path led to when it was last examined.
    var stamp: FileStamp?
    /// An empty file whose creator is expected to write to it and to close it, which is an event of its own.
    var unwritten: FileStamp?
    /// Whether the last look has found a change. The next one then reports the file again, because the time of a file
    /// may be the same after a further write.
    var wasChanged = false
    var pending: Pending?
    /// Whether a thread handles what is pending. It then also handles what arrives meanwhile.
    var isHandling = true
  }

  private let path: String
  private let moment: FileMoment
  private let notify: @Sendable () -> Void
  private let state = Mutex(State())

  /// Watches from now on. A relative path stays relative to the present working directory.
  ///
  /// - Parameter notify: called on a different thread, one call at a time. It may block: watches share a few threads,
  ///   and get more of them if no call returns. Changes during a call lead to one more call.
  /// - Throws: the operation `watch`; `watchDirectory` if the folder of the path does not exist or cannot be watched.
  package init(
    _ path: String, _ moment: FileMoment = .whenWhole, _ notify: @escaping @Sendable () -> Void
  ) throws(Failure) {
    self.path = PathName.absolute(path)
    self.moment = moment
    self.notify = notify
    let events = try FolderEvents(of: self.path, named: path, moment, failing: Failure.self) { [self] in receive($0) }
    state.withLock { $0.events = events }
    // Before a caller reads the file, so that no change is missed.
    let stamp = follow(events)
    state.withLock { $0.stamp = stamp }
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
    let starter = state.withLock { state -> FolderEvents? in
      var pending = state.pending ?? Pending()
      switch event {
      case .written: pending.isWritten = true
      case .replaced:
        pending.isWritten = true
        pending.isMoved = true
      case .created: pending.isCreated = true
      case .moved: pending.isMoved = true
      case .looked:
        pending.isMoved = true
        pending.isLooked = true
      case .last: pending.isLast = true
      }
      state.pending = pending
      defer { state.isHandling = true }
      return state.isHandling ? nil : state.events
    }
    starter?.run { [self] in handle(notify) }
  }

  private func handle(_ notify: () -> Void) {
    while let (events, pending) = next() {
      if pending.isLast {
        stop()
        continue
      }
      let stamp = pending.isMoved || pending.isCreated ? follow(events) : FileStamp(path)
      if !pending.isWritten, moment == .whenWhole, mayBeIncomplete(stamp, isCreated: pending.isCreated) { continue }
      let isChanged = state.withLock { state in
        let isOther = state.stamp != stamp
        let isAgain = pending.isLooked && state.wasChanged
        state.stamp = stamp
        state.unwritten = nil
        if pending.isLooked { state.wasChanged = isOther }
        return state.events != nil && (pending.isWritten || isOther || isAgain)
      }
      if isChanged { notify() }
    }
  }

  /// Watches what the path depends on now. Returns what it leads to.
  private func follow(_ events: FolderEvents) -> FileStamp? {
    var trail = PathTrail(path)
    // Repeated if a part was replaced before it was watched.
    for _ in 0..<8 {
      events.watch(trail)
      let present = PathTrail(path)
      if present == trail { break }
      trail = present
    }
    return FileStamp(path)
  }

  /// Waits until the program that has created a file closes it, which is an event of its own, or has not written to it
  /// for half a second, because it may have got its name when it was complete. A file that the path did not lead to
  /// before may have been created even if no event says so yet: the system reports in any order that the path has
  /// changed. Returns whether a later event reports the file.
  private func mayBeIncomplete(_ found: FileStamp?, isCreated: Bool) -> Bool {
    guard var last = found, last.mayBeIncomplete else { return false }
    let (known, unwritten) = state.withLock { ($0.stamp, $0.unwritten) }
    guard isCreated || !last.isSameFile(as: known) else { return false }
    var isCreated = isCreated || unwritten.map(last.isSameFile) ?? false
    var quiet = 0
    for _ in 0..<500 {
      usleep(20_000)
      let (isWritten, isCreatedNow) = state.withLock {
        ($0.events == nil || $0.pending?.isWritten ?? false, $0.pending?.isCreated ?? false)
      }
      if isWritten { return true }
      isCreated = isCreated || isCreatedNow
      guard let stamp = FileStamp(path) else { return false }
      quiet = stamp == last ? quiet + 1 : 0
      last = stamp
      guard quiet == 25 else { continue }
      if isCreated, stamp.isEmpty { state.withLock { $0.unwritten = stamp } }
      return isCreated && stamp.isEmpty
    }
    return true
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
