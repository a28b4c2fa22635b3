#if os(Linux)
  internal import Synchronization

  /// Reports what happens to the files in the folders of one watch, until ``stop()``.
  final class FolderEvents: Sendable {
    private let inotify: Inotify

    /// Reports from now on. A different thread calls `receive`, which must not wait.
    ///
    /// - Parameter path: a file in the folder. The removal of this folder is the last event.
    init<Failure: FileFailure>(
      of path: String, _ moment: FileMoment, failing _: Failure.Type,
      _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) throws(Failure) {
      inotify = try Inotify.ofProcess { Failure(.watch, path, errno: $0) }
      // Never IN_CREATE: a file is not read until it has content.
      let changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB
      let mask = UInt32(changes | (moment == .eachWrite ? IN_MODIFY : 0))
      let error = inotify.add(ObjectIdentifier(self), PathName.directory(of: path), mask, receive)
      guard error == 0 else { throw Failure(.watchDirectory, path, errno: error) }
    }

    /// Also reports on the folder of `file`, instead of the one of the previous call. Does nothing if the folder cannot
    /// be watched.
    func watch(_ file: String) { inotify.move(ObjectIdentifier(self), to: PathName.directory(of: file)) }

    func stop() { inotify.remove(ObjectIdentifier(self)) }
  }

  /// The inotify instance that all watches of the process share, and the thread that reads it. It is never closed:
  /// Docs/Decisions/0035.
  private final class Inotify: Sendable {
    private struct Watch {
      let mask: UInt32
      let receive: @Sendable (FolderEvent) -> Void
      let first: CInt
      /// -1 if there is none.
      var other: CInt = -1
    }

    /// Folders are identified by inotify's watch descriptors: one for each folder, however many watches use it. The
    /// system reuses a number only after two billion others.
    private struct State {
      var watches: [ObjectIdentifier: Watch] = [:]
      var users: [CInt: Set<ObjectIdentifier>] = [:]
    }

    /// The last instance belongs to this process. The others were made before a fork. They have no thread here, and are
    /// not closed, because the program may have closed all descriptors and used their numbers again.
    private static let instances = Mutex<[Inotify]>([])

    private let raw: CInt
    private let origin = ForkGuard()
    private let state = Mutex(State())

    private init(_ raw: CInt) { self.raw = raw }

    static func ofProcess<Failure: Error>(refusal: (CInt) -> Failure) throws(Failure) -> Inotify {
      try instances.withLock { (instances) throws(Failure) in
        if let last = instances.last, last.origin.isOwn { return last }
        let new = Inotify(inotify_init1(CInt(IN_CLOEXEC)))
        guard new.raw >= 0 else { throw refusal(errno) }
        guard HelperThread.start({ new.run() }) else {
          let error = errno
          close(new.raw)
          throw refusal(error)
        }
        instances.append(new)
        return new
      }
    }

    // MARK: Watches

    /// Watches `folder`, whose removal is the last event. Returns 0, or the error number.
    func add(
      _ id: ObjectIdentifier, _ folder: String, _ mask: UInt32, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> CInt {
      // Accessed once without the lock, so that a disk that does not respond delays only this watch.
      _ = unsafe access(folder, F_OK)
      return state.withLock { state in
        let number = number(of: folder, mask)
        guard number >= 0 else { return errno }
        state.watches[id] = Watch(mask: mask, receive: receive, first: number)
        state.users[number, default: []].insert(id)
        return 0
      }
    }

    /// Watches `folder` instead of the one that the last call named.
    func move(_ id: ObjectIdentifier, to folder: String) {
      guard origin.isOwn else { return }
      state.withLock { state in
        guard let watch = state.watches[id] else { return }
        let number = number(of: folder, watch.mask)
        guard number >= 0, number != watch.other else { return }
        state.watches[id]?.other = number
        state.users[number, default: []].insert(id)
        release(watch.other, of: id, in: &state)
      }
    }

    func remove(_ id: ObjectIdentifier) {
      // Only the parent process may change an instance that it created.
      guard origin.isOwn else { return }
      state.withLock { state in
        guard let watch = state.watches.removeValue(forKey: id) else { return }
        release(watch.first, of: id, in: &state)
        release(watch.other, of: id, in: &state)
      }
    }

    /// The number of a folder, which is watched from now on; -1, with `errno`, if the system refuses.
    private func number(of folder: String, _ mask: UInt32) -> CInt {
      // IN_MASK_ADD: the folder may have other watches, which need their events as before.
      unsafe inotify_add_watch(raw, folder, mask | UInt32(IN_ONLYDIR | IN_MASK_ADD))
    }

    /// Ends the watching of a folder that `id` no longer uses, if no other watch uses it.
    private func release(_ number: CInt, of id: ObjectIdentifier, in state: inout State) {
      if let watch = state.watches[id], watch.first == number || watch.other == number { return }
      state.users[number]?.remove(id)
      guard state.users[number]?.isEmpty == true else { return }
      state.users[number] = nil
      inotify_rm_watch(raw, number)  // fails if the folder was removed
    }

    // MARK: Events

    private func run() {
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = retrying { unsafe read(raw, &buffer, buffer.count) }
        guard count > 0 else { break }
        for (receive, event) in unsafe deliveries(of: buffer.span.bytes.extracting(..<count)) { receive(event) }
      }
      // Other code has closed the descriptor. The next watch makes a new instance.
      Self.instances.withLock { $0.removeAll { $0 === self } }
      for watch in state.withLock({ Array($0.watches.values) }) { watch.receive(FolderEvent(name: "", isLast: true)) }
    }

    /// Returns each event with its receiver. The caller holds no lock when it calls the receivers.
    private func deliveries(of events: RawSpan) -> [(@Sendable (FolderEvent) -> Void, FolderEvent)] {
      var deliveries: [(@Sendable (FolderEvent) -> Void, FolderEvent)] = []
      var offset = 0
      let size = MemoryLayout<inotify_event>.size
      while offset + size <= events.byteCount {
        let event = unsafe events.withUnsafeBytes { bytes in
          unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        }
        let bytes = events.extracting(offset + size..<offset + size + Int(event.len))
        let name = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        offset += size + Int(event.len)
        state.withLock { state in
          if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
            for watch in state.watches.values { deliveries.append((watch.receive, FolderEvent(name: nil))) }
          }
          for id in state.users[event.wd] ?? [] {
            guard let watch = state.watches[id], event.mask & (watch.mask | UInt32(IN_IGNORED)) != 0 else { continue }
            let isLast = event.mask & UInt32(IN_IGNORED) != 0 && event.wd == watch.first
            deliveries.append((watch.receive, FolderEvent(name: name, isLast: isLast)))
          }
        }
      }
      return deliveries
    }
  }
#endif
