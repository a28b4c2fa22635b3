/// Reports what happens to the file of one watch and on the way to it, until ``stop()``.
final class FolderEvents: Sendable {
  private let inotify: Inotify
  private let moment: FileMoment
  private let polling: Polling

  /// Reports from now on. A different thread calls `receive`, which must not wait.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - name: the path in errors.
  init<Failure: FileFailure>(
    of path: String, named name: String, _ moment: FileMoment, failing _: Failure.Type,
    _ receive: @escaping @Sendable (FolderEvent) -> Void
  ) throws(Failure) {
    self.moment = moment
    let inotify = try Inotify.ofProcess { Failure(.watch, name, errno: $0) }
    self.inotify = inotify
    polling = Polling {
      receive(.looked)
      // No event may come that would give waiting handlers more threads.
      inotify.threads.relieve()
    }
    // Accessed once without the lock of the table, so that a disk that does not respond delays only this watch.
    let error = inotify.check(PathName.directory(of: path))
    guard error == 0 else { throw Failure(.watchDirectory, name, errno: error) }
    inotify.add(ObjectIdentifier(self), receive)
  }

  /// Reports on the names of `trail` and its file, instead of those of the previous call. Looks from time to time at
  /// what the system does not report.
  func watch(_ trail: PathTrail) {
    var places = trail.steps.map { step in
      Inotify.WatchedPath(path: step.folder, name: step.name, mask: mask(of: step), isFile: step.isFile)
    }
    if let file = trail.file {
      let changes = moment == .eachWrite ? IN_MODIFY : IN_CLOSE_WRITE | IN_ATTRIB
      places.append(Inotify.WatchedPath(path: file, name: nil, mask: UInt32(changes), isFile: true))
    }
    let isComplete = inotify.watch(places, for: ObjectIdentifier(self))
    let fileSystems = Set(trail.steps.map(\.folder)).union([trail.file].compactMap(\.self))
    polling.need(!isComplete || !trail.isKnown || !fileSystems.allSatisfy(reportsChanges))
  }

  private func mask(of step: PathTrail.Step) -> UInt32 {
    let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
    guard step.isFile else { return UInt32(names) }
    return UInt32(names | IN_ATTRIB | (moment == .whenWhole ? IN_CLOSE_WRITE : 0))
  }

  /// Runs a handler on a different thread, or on this one if the system provides none.
  func run(_ handler: @escaping @Sendable () -> Void) { inotify.threads.run(handler) }

  func stop() {
    inotify.remove(ObjectIdentifier(self))
    polling.end()
  }
}
