#if canImport(Darwin)
  internal import Synchronization

  /// What happens to the files in some folders (`kqueue`). The events have no names, so each batch is incomplete.
  struct FolderEvents: Sendable {
    struct Batch {
      var names: Set<String> = []
      /// Whether other files may have changed as well.
      var isIncomplete = true
      var isLast = false
    }

    /// Descriptors of what is watched.
    private final class Watched: Sendable {
      let first = Mutex<CInt>(-1)
      let others = Mutex<[CInt]>([])
    }

    private let queue: CInt
    private let watched = Watched()
    /// Identifies the event that ``stop()`` makes; no descriptor has this number.
    private static let stopEvent = UInt(CInt.max)

    /// `nil`, with `errno`, if the system provides no events. A kqueue cannot report that a writer closes a file, so
    /// each write counts, whatever the moment.
    init?(_ moment: FileMoment) {
      queue = kqueue()
      guard queue >= 0 else { return nil }
      var event = kevent(
        ident: Self.stopEvent, filter: Int16(EVFILT_USER), flags: UInt16(EV_ADD | EV_CLEAR), fflags: 0, data: 0,
        udata: nil)
      guard unsafe kevent(queue, &event, 1, nil, 0, nil) == 0 else {
        close()
        return nil
      }
    }

    /// Watches the folder whose end ends the events. Returns `false`, with `errno`, if the system refuses.
    mutating func watchFirst(_ folder: String) -> Bool {
      guard let descriptor = add(folder, O_DIRECTORY) else { return false }
      watched.first.withLock { $0 = descriptor }
      return true
    }

    /// Watches `file` and its folder instead of the file before. A folder does not report writes to its files.
    func watch(_ file: String) {
      watched.others.withLock { others in
        for descriptor in others { _ = DurableFiles.close(descriptor) }
        others = [add(PathName.directory(of: file), O_DIRECTORY), add(file, 0)].compactMap(\.self)
      }
    }

    private func add(_ path: String, _ flags: CInt) -> CInt? {
      let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC | O_NONBLOCK | flags)
      guard descriptor >= 0 else { return nil }
      let changes = NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_REVOKE | NOTE_ATTRIB
      var event = kevent(
        ident: UInt(descriptor), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR), fflags: UInt32(changes),
        data: 0, udata: nil)
      guard unsafe kevent(queue, &event, 1, nil, 0, nil) == 0 else {
        let error = errno
        _ = DurableFiles.close(descriptor)
        errno = error
        return nil
      }
      return descriptor
    }

    /// Waits for an event. `nil` if it cannot be read.
    func next() -> Batch? {
      var event = kevent()
      guard retrying({ unsafe kevent(queue, nil, 0, &event, 1, nil) }) == 1 else { return nil }
      let isFirst = watched.first.withLock { UInt($0) == event.ident }
      return Batch(
        isLast: event.ident == Self.stopEvent || isFirst && event.fflags & UInt32(NOTE_DELETE | NOTE_REVOKE) != 0)
    }

    /// Ends the events: the last batch follows.
    func stop() {
      var event = kevent(
        ident: Self.stopEvent, filter: Int16(EVFILT_USER), flags: 0, fflags: UInt32(NOTE_TRIGGER), data: 0, udata: nil)
      _ = unsafe kevent(queue, &event, 1, nil, 0, nil)
    }

    func close() {
      watched.first.withLock { if $0 >= 0 { _ = DurableFiles.close($0) } }
      watched.others.withLock { for descriptor in $0 { _ = DurableFiles.close(descriptor) } }
      _ = DurableFiles.close(queue)
    }
  }
#endif
