import Glibc
import Synchronization

/// Tells when the file at a path may be another one, or have another content.
///
/// Watches its folder, since whoever saves a file usually puts a new one in its place, and the folder of the file that a
/// link leads to.
package final class FileWatch: Sendable {
  private struct State {
    var descriptor: CInt?
    var folder: CInt
    /// The file that the path has led to.
    var target: String?
  }

  private struct Events {
    var names: Set<String> = []
    /// Whether some were lost.
    var isIncomplete = false
    var areLast = false
  }

  /// What happens to a file before it is told.
  package enum Moment {
    /// It is replaced, or its writer closes it: what is there is whole.
    case whenWhole
    /// Bytes are written. For files that are whole after every write.
    case eachWrite

    fileprivate var mask: CInt { self == .eachWrite ? IN_MODIFY : 0 }
  }

  private let path: String
  private let moment: Moment
  private let notify: @Sendable () -> Void
  private let state: Mutex<State>

  /// Watches from now on, in a thread of its own.
  ///
  /// - Throws: `unreadable`.
  package init(
    _ path: String, _ moment: Moment = .whenWhole, _ notify: @escaping @Sendable () -> Void
  ) throws(PreferencesError) {
    (self.path, self.moment, self.notify) = (path, moment, notify)
    let descriptor = inotify_init1(CInt(IN_CLOEXEC))
    guard descriptor >= 0 else { throw .system(.unreadable, "cannot be watched", errno) }
    let folder = Self.watch(Self.folder(of: path), moment, descriptor)
    guard folder >= 0 else {
      defer { close(descriptor) }
      throw .system(.unreadable, "its folder cannot be watched", errno)
    }
    // Before anybody reads the file, so that no change of it falls in between.
    state = Mutex(State(descriptor: descriptor, folder: folder, target: Self.watchTarget(of: path, moment, descriptor)))
    try start()
  }

  /// Ends the watch; a notice that has begun may still be running.
  package func stop() {
    state.withLock { state in
      // The thread is told by the event that this makes.
      if let descriptor = state.descriptor { inotify_rm_watch(descriptor, state.folder) }
    }
  }

  private func start() throws(PreferencesError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let number = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<FileWatch>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard number == 0 else {
      context.release()
      end()
      throw .system(.unreadable, "cannot be watched", number)
    }
    pthread_detach(thread)
  }

  private func run() {
    let state = state.withLock { $0 }
    guard let descriptor = state.descriptor else { return }
    var target = state.target
    defer { end() }
    while let events = Self.waitForEvents(descriptor, ending: state.folder) {
      let present = Self.watchTarget(of: path, moment, descriptor)
      let names = Set([path, target, present].compactMap(\.self).map { Self.name(of: $0) })
      if target != present || events.isIncomplete || !names.isDisjoint(with: events.names) { notify() }
      target = present
      if events.areLast { return }
    }
  }

  private func end() {
    state.withLock { state in
      if let descriptor = state.descriptor { close(descriptor) }
      state.descriptor = nil
    }
  }

  /// Nil when they cannot be read.
  private static func waitForEvents(_ descriptor: CInt, ending folder: CInt) -> Events? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var count = read(descriptor, &buffer, buffer.count)
    while count < 0, errno == EINTR { count = read(descriptor, &buffer, buffer.count) }
    guard count > 0 else { return nil }
    return buffer[..<count].withUnsafeBytes { bytes in
      var events = Events()
      var offset = 0
      let size = MemoryLayout<inotify_event>.size
      while offset + size <= bytes.count {
        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let name = bytes[(offset + size)...].prefix(Int(event.len)).prefix { $0 != 0 }
        events.names.insert(String(decoding: name, as: UTF8.self))
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { events.isIncomplete = true }
        if event.wd == folder, event.mask & UInt32(IN_IGNORED) != 0 { events.areLast = true }
        offset += size + Int(event.len)
      }
      return events
    }
  }

  /// Watches the folder of the file that a path leads to. After a link was changed this is another one; of the same this
  /// does nothing.
  ///
  /// - Returns: that file; nil when there is none.
  private static func watchTarget(of path: String, _ moment: Moment, _ descriptor: CInt) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    let target = String(cString: resolved)
    _ = watch(folder(of: target), moment, descriptor)
    return target
  }

  private static func watch(_ folder: String, _ moment: Moment, _ descriptor: CInt) -> CInt {
    // Never IN_CREATE: a file is not looked at before something is in it.
    let changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | moment.mask
    return inotify_add_watch(descriptor, folder, UInt32(changes | IN_ONLYDIR))
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  }

  private static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
}
