internal import Synchronization

/// The inotify instance that all watches of the process share, and the thread that reads it. It is never closed:
/// Docs/Decisions/0035.
final class Inotify: Sendable {
  /// A name in a folder, or a file or folder itself.
  struct WatchedPath {
    /// Without links.
    let path: String
    /// `nil` for the file at `path`, under whatever name it is written.
    let name: String?
    let mask: UInt32
    /// Whether the place is the file of the watch, or a link to it.
    let isFile: Bool
  }

  private struct Interest {
    var mask: UInt32
    var isFile: Bool
  }

  /// Watches by the name that they are interested in; the empty name stands for the file itself.
  private typealias Interests = [String: [ObjectIdentifier: Interest]]

  private struct Watch {
    let receive: @Sendable (FolderEvent) -> Void
    var places: Set<NumberedName> = []
  }

  private struct NumberedName: Hashable {
    let number: CInt
    let name: String
  }

  /// Files and folders are identified by inotify's watch descriptors: one for each, however many watches use it. The
  /// system reuses a number only after two billion others.
  private struct State {
    var watches: [ObjectIdentifier: Watch] = [:]
    var interests: [CInt: Interests] = [:]
  }

  /// The last instance belongs to this process. The others were made before a fork. They have no thread here, and are
  /// not closed, because the program may have closed all descriptors and used their numbers again.
  private static let instances = Mutex<[Inotify]>([])

  let threads = NoticeThreads()
  private let raw: CInt
  /// Becomes readable when a file system is mounted or unmounted, which is no event; -1 if the system has no such
  /// file.
  private let mounts: CInt
  private let origin = ForkGuard()
  private let state = Mutex(State())

  private init() {
    raw = inotify_init1(CInt(IN_CLOEXEC))
    mounts = raw < 0 ? -1 : unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
  }

  static func ofProcess<Failure: Error>(refusal: (CInt) -> Failure) throws(Failure) -> Inotify {
    try instances.withLock { (instances) throws(Failure) in
      if let last = instances.last, last.origin.isOwn { return last }
      let new = Inotify()
      guard new.raw >= 0 else { throw refusal(errno) }
      guard HelperThread.start({ new.run() }) else {
        let error = errno
        close(new.raw)
        if new.mounts >= 0 { close(new.mounts) }
        throw refusal(error)
      }
      instances.append(new)
      return new
    }
  }

  // MARK: Watches

  /// Whether a folder can be watched: 0, or the error number.
  func check(_ folder: String) -> CInt {
    guard unsafe access(folder, R_OK) == 0 else { return errno }
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else { return errno }
    return status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR
  }

  func add(_ id: ObjectIdentifier, _ receive: @escaping @Sendable (FolderEvent) -> Void) {
    state.withLock { $0.watches[id] = Watch(receive: receive) }
  }

  /// Watches these places instead of those of the last call, in order. Returns whether all of them can be watched.
  func watch(_ places: [WatchedPath], for id: ObjectIdentifier) -> Bool {
    // Only the parent process may change an instance that it created.
    guard origin.isOwn else { return true }
    return state.withLock { state in
      guard let old = state.watches[id]?.places else { return true }
      var new: Set<NumberedName> = []
      var isComplete = true
      for place in places {
        let number = number(of: place)
        guard number >= 0 else {
          isComplete = false
          continue
        }
        let key = NumberedName(number: number, name: place.name ?? "")
        // A path may lead through one name twice.
        var interest = Interest(mask: place.mask, isFile: place.isFile)
        if !new.insert(key).inserted, let known = state.interests[number]?[key.name]?[id] {
          interest = Interest(mask: known.mask | interest.mask, isFile: known.isFile || interest.isFile)
        }
        state.interests[number, default: [:]][key.name, default: [:]][id] = interest
      }
      state.watches[id]?.places = new
      for place in old.subtracting(new) { release(place, of: id, in: &state) }
      return isComplete
    }
  }

  func remove(_ id: ObjectIdentifier) {
    guard origin.isOwn else { return }
    let removed = state.withLock { state in
      let watch = state.watches.removeValue(forKey: id)
      for place in watch?.places ?? [] { release(place, of: id, in: &state) }
      return watch
    }
    // Released with no lock held, because it may be the last reference to the watch.
    withExtendedLifetime(removed) {}
  }

  /// The number of a place, which is watched from now on; -1 if the system refuses.
  private func number(of place: WatchedPath) -> CInt {
    // IN_MASK_ADD: the place may have other watches, which need their events as before.
    let flags = IN_MASK_ADD | IN_DONT_FOLLOW | (place.name == nil ? 0 : Int32(IN_ONLYDIR))
    return unsafe inotify_add_watch(raw, place.path, place.mask | UInt32(flags))
  }

  /// Ends the watching of a place that no watch uses any longer.
  private func release(_ place: NumberedName, of id: ObjectIdentifier, in state: inout State) {
    state.interests[place.number]?[place.name]?[id] = nil
    if state.interests[place.number]?[place.name]?.isEmpty == true {
      state.interests[place.number]?[place.name] = nil
    }
    guard state.interests[place.number]?.isEmpty == true else { return }
    state.interests[place.number] = nil
    inotify_rm_watch(raw, place.number)  // fails if the folder was removed
  }

  // MARK: Events

  private func run() {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      // A pause, in which further events of a busy file become one.
      usleep(1_000)
      var sources = [
        pollfd(fd: raw, events: Int16(POLLIN), revents: 0), pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
      ]
      let timeout = threads.isBacklogged ? NoticeThreads.patience : -1
      guard unsafe poll(&sources, 2, timeout) >= 0 || errno == EINTR else { break }
      threads.relieve()
      guard sources[1].revents & Int16(POLLNVAL) == 0 else { break }
      if sources[1].revents != 0 { for watch in all { watch.receive(.moved) } }
      guard sources[0].revents != 0 else { continue }
      let count = retrying { unsafe read(raw, &buffer, buffer.count) }
      guard count > 0 else { break }
      for (receive, event) in unsafe deliveries(of: buffer.span.bytes.extracting(..<count)) { receive(event) }
    }
    // Other code has closed a descriptor. The next watch makes a new instance.
    Self.instances.withLock { $0.removeAll { $0 === self } }
    for watch in all { watch.receive(.last) }
  }

  private var all: [Watch] { state.withLock { Array($0.watches.values) } }

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
          for watch in state.watches.values { deliveries.append((watch.receive, .replaced)) }
        }
        for (id, interest) in Self.interests(in: event, name, state.interests[event.wd]) {
          guard let watch = state.watches[id], let kind = Self.kind(of: event.mask, interest) else { continue }
          deliveries.append((watch.receive, kind))
        }
      }
    }
    return deliveries
  }

  /// The watches that an event concerns. All of a folder's if the folder itself is gone.
  private static func interests(
    in event: inotify_event, _ name: String, _ known: Interests?
  ) -> [(ObjectIdentifier, Interest)] {
    guard let known else { return [] }
    if event.mask & UInt32(IN_IGNORED | IN_UNMOUNT) != 0 { return known.values.flatMap { $0.map { ($0, $1) } } }
    return known[name].map { $0.map { ($0, $1) } } ?? []
  }

  private static func kind(of mask: UInt32, _ interest: Interest) -> FolderEvent? {
    if mask & UInt32(IN_IGNORED | IN_UNMOUNT) != 0 { return .moved }
    let mask = mask & interest.mask
    guard mask != 0 else { return nil }
    guard interest.isFile, mask & UInt32(IN_ATTRIB) == 0 else { return .moved }
    if mask & UInt32(IN_CREATE) != 0 { return .created }
    return mask & UInt32(IN_CLOSE_WRITE | IN_MODIFY) != 0 ? .written : .replaced
  }
}
