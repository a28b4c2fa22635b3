internal import CDurableFiles

/// An open file, which is closed when the last reference is released.
///
/// Its operations repeat calls that a signal interrupted, and throw `Failure`.
package final class Descriptor<Failure: FileFailure>: Sendable {
  package let raw: Int32
  /// The name of the file in error messages.
  @usableFromInline let path: String

  package init(_ raw: Int32, _ path: String) {
    self.raw = raw
    self.path = path
  }
  deinit { close(raw) }

  /// Opens `path`. If that fails, throws the error that `refusal` returns for `errno`.
  ///
  /// - Parameter name: the name of the file in error messages; `nil` for its path.
  package static func open(
    _ path: String, _ flags: Int32, mode: mode_t = 0, named name: String? = nil, refusal: (Int32) -> Failure
  ) throws(Failure) -> Descriptor {
    let raw = retrying { unsafe DurableFiles.open(path, flags | O_CLOEXEC, mode) }
    guard raw >= 0, let file = Descriptor(above2: raw, name ?? path) else { throw refusal(errno) }
    return file
  }

  /// Never uses descriptor 0, 1 or 2: output of the program would be written into the file. `nil`, with `errno`, if the
  /// system provides no other.
  convenience init?(above2 raw: Int32, _ path: String) {
    guard raw <= 2 else {
      self.init(raw, path)
      return
    }
    let higher = fcntl(raw, F_DUPFD_CLOEXEC, 3)
    let error = errno
    close(raw)
    errno = error
    guard higher >= 0 else { return nil }
    self.init(higher, path)
  }

  @inlinable
  package func status() throws(Failure) -> stat {
    var status = stat()
    guard unsafe fstat(raw, &status) == 0 else { throw Failure(.examine, path, errno: errno) }
    return status
  }

  /// Reads until `buffer` is full or the file ends.
  @inlinable
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) -> Int {
    var done = 0
    while done < buffer.count {
      let count = retrying { unsafe pread(raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done)) }
      guard count >= 0 else { throw Failure(.read, path, errno: errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// The first place from `offset` on that is not in a hole of a sparse file; the greatest number if only a hole
  /// follows. `offset` where the file system does not know its holes.
  package func nextData(from offset: Int) -> Int {
    let found = cfiles_next_data(raw, Int64(offset))
    if found >= 0 { return max(Int(found), offset) }
    return errno == ENXIO ? Int.max : offset
  }

  /// Writes all of `bytes`, in one system call unless the system accepts less.
  package func write(_ bytes: RawSpan, at offset: Int) throws(Failure) {
    var done = 0
    try write(bytes, at: offset, done: &done)
  }

  /// Writes all of `bytes`. `done` is the number of bytes written, also if it throws.
  package func write(_ bytes: RawSpan, at offset: Int, done: inout Int) throws(Failure) {
    while done < bytes.byteCount {
      let rest = bytes.extracting(done...)
      let count = unsafe rest.withUnsafeBytes { rest in
        retrying { unsafe pwrite(raw, rest.baseAddress, rest.count, off_t(offset + done)) }
      }
      guard count >= 0 else { throw Failure(.write, path, errno: errno) }
      done += count
    }
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
    try unsafe write(bytes.span.bytes, at: offset)
  }

  package func truncate(to length: Int) throws(Failure) {
    guard retrying({ ftruncate(raw, off_t(length)) }) == 0 else { throw Failure(.truncate, path, errno: errno) }
  }

  package func synchronize() throws(Failure) {
    guard retrying({ cfiles_synchronize(raw) }) == 0 else { throw Failure(.synchronize, path, errno: errno) }
  }

  package func synchronizeData() throws(Failure) {
    guard retrying({ cfiles_synchronize_data(raw) }) == 0 else {
      throw Failure(.synchronizeData, path, errno: errno)
    }
  }
}
