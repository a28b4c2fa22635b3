#if os(Linux)
  /// What happens to the files in some folders (`inotify`).
  struct FolderEvents: Sendable {
    struct Batch {
      var names: Set<String> = []
      /// Whether other files may have changed as well.
      var isIncomplete = false
      var isLast = false
    }

    private let raw: CInt
    private let mask: UInt32
    /// The watch of the first folder. Its end is the end of the events.
    private var first: CInt = -1

    /// `nil`, with `errno`, if the system provides no events.
    init?(_ moment: FileMoment) {
      raw = inotify_init1(CInt(IN_CLOEXEC))
      guard raw >= 0 else { return nil }
      // Never IN_CREATE: a file is not read until it has content.
      let changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_ONLYDIR
      mask = UInt32(changes | (moment == .eachWrite ? IN_MODIFY : 0))
    }

    /// Watches the folder whose end ends the events. Returns `false`, with `errno`, if the system refuses.
    mutating func watchFirst(_ folder: String) -> Bool {
      first = unsafe inotify_add_watch(raw, folder, mask)
      return first >= 0
    }

    /// Watches the folder of `file`, too. Does nothing if it is watched already, or cannot be watched.
    func watch(_ file: String) { _ = unsafe inotify_add_watch(raw, PathName.directory(of: file), mask) }

    /// Waits for events. `nil` if they cannot be read.
    func next() -> Batch? {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = retrying { unsafe read(raw, &buffer, buffer.count) }
      guard count > 0 else { return nil }
      let events = unsafe buffer.span.bytes.extracting(..<count)
      var batch = Batch()
      var offset = 0
      let size = MemoryLayout<inotify_event>.size
      while offset + size <= events.byteCount {
        let event = unsafe events.withUnsafeBytes { bytes in
          unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        }
        let name = events.extracting(offset + size..<offset + size + Int(event.len))
        batch.names.insert(
          unsafe name.withUnsafeBytes { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { batch.isIncomplete = true }
        if event.wd == first, event.mask & UInt32(IN_IGNORED) != 0 { batch.isLast = true }
        offset += size + Int(event.len)
      }
      return batch
    }

    /// Ends the events: the last batch follows.
    func stop() { inotify_rm_watch(raw, first) }

    func close() { _ = DurableFiles.close(raw) }
  }
#endif
