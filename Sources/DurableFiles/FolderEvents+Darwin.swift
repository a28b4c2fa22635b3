#if canImport(Darwin)
  internal import Synchronization

  /// Reports what happens to the file of one watch and on the way to it, until ``stop()``. Each watch has a `kqueue`
  /// and a thread, because the system does not limit the number of kqueues. The events have no names.
  final class FolderEvents: Sendable {
    private struct Watched {
      var folders: [CInt] = []
      var file: CInt = -1
      var all: [CInt] { folders + (file < 0 ? [] : [file]) }
    }

    private let queue: CInt
    private let watched = Mutex(Watched())
    /// Identifies the event that ``stop()`` triggers; no descriptor has this number.
    private static let stopEvent = UInt(CInt.max)

    /// Reports from now on. A different thread calls `receive`. A kqueue cannot report that a writer closes a file, so
    /// every write is reported, whatever the moment.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - name: the path in errors.
    init<Failure: FileFailure>(
      of path: String, named name: String, _ moment: FileMoment, failing _: Failure.Type,
      _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) throws(Failure) {
      queue = kqueue()
      guard queue >= 0 else { throw Failure(.watch, name, errno: errno) }
      var event = kevent(
        ident: Self.stopEvent, filter: Int16(EVFILT_USER), flags: UInt16(EV_ADD | EV_CLEAR), fflags: 0, data: 0,
        udata: nil)
      guard unsafe kevent(queue, &event, 1, nil, 0, nil) == 0 else { throw Failure(.watch, name, errno: errno) }
      guard let first = add(PathName.directory(of: path), O_DIRECTORY) else {
        throw Failure(.watchDirectory, name, errno: errno)
      }
      watched.withLock { $0.folders = [first] }
      guard HelperThread.start({ self.run(receive) }) else { throw Failure(.watch, name, errno: errno) }
    }

    deinit {
      watched.withLock { watched in for descriptor in watched.all { close(descriptor) } }
      if queue >= 0 { close(queue) }
    }

    /// Reports on the folders of `trail` and its file, instead of those of the previous call. A folder does not report
    /// writes to its files.
    func watch(_ trail: PathTrail) {
      watched.withLock { watched in
        for descriptor in watched.all { close(descriptor) }
        watched.folders = Set(trail.steps.map(\.folder)).compactMap { add($0, O_DIRECTORY) }
        watched.file = trail.file.flatMap { add($0, 0) } ?? -1
      }
    }

    /// Runs a handler on a different thread, or on this one if the system provides none.
    func run(_ handler: @escaping @Sendable () -> Void) { HelperThread.run(handler) }

    func stop() {
      var event = kevent(
        ident: Self.stopEvent, filter: Int16(EVFILT_USER), flags: 0, fflags: UInt32(NOTE_TRIGGER), data: 0, udata: nil)
      _ = unsafe kevent(queue, &event, 1, nil, 0, nil)
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
        close(descriptor)
        errno = error
        return nil
      }
      return descriptor
    }

    /// Runs on the thread until ``stop()``.
    private func run(_ receive: (FolderEvent) -> Void) {
      var event = kevent()
      while retrying({ unsafe kevent(queue, nil, 0, &event, 1, nil) }) == 1, event.ident != Self.stopEvent {
        let isFile = watched.withLock { UInt(bitPattern: Int($0.file)) == event.ident }
        receive(isFile && event.fflags & UInt32(NOTE_WRITE | NOTE_EXTEND) != 0 ? .written : .moved)
      }
    }
  }
#endif
