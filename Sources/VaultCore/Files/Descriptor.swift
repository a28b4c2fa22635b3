internal import Glibc

/// An open file, which is closed when the last reference is released.
final class Descriptor: Sendable {
  let raw: Int32
  /// The name of the file in error messages.
  private let path: String

  init(_ raw: Int32, _ path: String) { (self.raw, self.path) = (raw, path) }
  deinit { close(raw) }

  /// Opens `path`. If that fails, throws the error that `refusal` returns for `errno`.
  ///
  /// - Parameter name: the name of the file in error messages; `nil` for its path.
  static func open(
    _ path: String, _ flags: Int32, mode: mode_t = 0, named name: String? = nil, refusal: (Int32) -> VaultError
  ) throws(VaultError) -> Descriptor {
    let raw = retrying { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
    guard raw >= 0 else { throw refusal(errno) }
    // A vault must never be descriptor 0, 1 or 2: output of the program would be written into it.
    guard raw <= 2 else { return Descriptor(raw, name ?? path) }
    let higher = fcntl(raw, F_DUPFD_CLOEXEC, 3)
    let error = errno
    close(raw)
    guard higher >= 0 else { throw refusal(error) }
    return Descriptor(higher, name ?? path)
  }

  func status() throws(VaultError) -> stat {
    var status = stat()
    guard unsafe fstat(raw, &status) == 0 else { throw .io("\(path): fstat") }
    return status
  }

  /// Reads until `buffer` is full or the file ends.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(VaultError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = retrying { unsafe pread(raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done)) }
      guard count >= 0 else { throw .io("\(path): read") }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `bytes`, in one system call unless the system accepts less.
  func write(_ bytes: RawSpan, at offset: Int) throws(VaultError) {
    var done = 0
    try write(bytes, at: offset, done: &done)
  }

  /// Writes all of `bytes`. `done` is the number of bytes written, also if it throws.
  func write(_ bytes: RawSpan, at offset: Int, done: inout Int) throws(VaultError) {
    while done < bytes.byteCount {
      let rest = bytes.extracting(done...)
      let count = unsafe rest.withUnsafeBytes { rest in
        retrying { unsafe pwrite(raw, rest.baseAddress, rest.count, off_t(offset + done)) }
      }
      guard count >= 0 else { throw .io("\(path): write") }
      done += count
    }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(VaultError) { try write(bytes.bytes, at: offset) }

  func synchronize() throws(VaultError) {
    guard retrying({ fsync(raw) }) == 0 else { throw .io("\(path): fsync") }
  }

  func synchronizeData() throws(VaultError) {
    guard retrying({ fdatasync(raw) }) == 0 else { throw .io("\(path): fdatasync") }
  }
}

/// Identifies a file independently of its name.
struct FileIdentity: Sendable, Equatable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The identity of a file with an open descriptor, which prevents reuse of the inode number.
struct OpenFile: Sendable {
  let descriptor: Descriptor
  let identity: FileIdentity

  init(_ descriptor: Descriptor, _ status: stat) {
    self.descriptor = descriptor
    identity = FileIdentity(status)
  }
}

/// Repeats a call that a signal interrupted.
func retrying<I: FixedWidthInteger>(_ call: () -> I) -> I {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

extension VaultError {
  /// The error of a failed system call, with the present `errno`, which is read before the text is built.
  static func io(_ step: @autoclosure () -> String, _ number: Int32 = Glibc.errno) -> VaultError {
    var text = [CChar](repeating: 0, count: 128)
    _ = unsafe strerror_r(number, &text, text.count)
    let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return VaultError(.io, "\(step()): \(reason)", errno: number)
  }

  /// The error of a failed system call that writes: ``VaultError/Code/readOnly`` if writing is not permitted.
  static func writing(_ step: @autoclosure () -> String, _ number: Int32 = Glibc.errno) -> VaultError {
    let refusals = [EACCES, EPERM, EROFS]
    guard refusals.contains(number) else { return .io(step(), number) }
    return VaultError(
      .readOnly, "\(step()): the file, its directory or the file system does not allow writing", errno: number)
  }
}
