internal import DurableFiles
internal import Synchronization
internal import VaultCore

/// Writes results to standard output. Lost output is an error whose code says whether the vault was changed before.
enum Output {
  /// Records that the command's change is durable. From now on a write that fails throws `answerLost`.
  static func recordChange(by _: any WritingCommand.Type) { isChanged.store(true, ordering: .relaxed) }

  static func write(_ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    guard let number = failure(of: bytes, to: STDOUT_FILENO) else { return }
    let isChanged = isChanged.load(ordering: .relaxed)
    // The reader has what it wants, as `head` has: this process ends as others do, without a message.
    if number == EPIPE, !isChanged, !ProcessHardening.inheritsIgnored(SIGPIPE) { PendingSignal.keep(SIGPIPE) }
    throw .lostAnswer(.io("write to standard output", number), isChanged: isChanged)
  }

  /// Writes what is needed after a change, before the change is made.
  /// - Throws: an error if it is discarded, or cannot be written.
  static func writeKept(_ text: String) throws(ToolError) {
    var (output, null) = (stat(), stat())
    let isNull =
      fstat(STDOUT_FILENO, &output) == 0 && stat("/dev/null", &null) == 0
      && output.st_mode & S_IFMT == S_IFCHR && output.st_rdev == null.st_rdev
    guard !isNull else {
      throw .usage(
        "standard output is discarded, and nothing else would open the vault than the new pin that is printed there",
        hint: "write the output to a file")
    }
    try write(text)
    let failure = fsync(STDOUT_FILENO) == 0 ? 0 : errno
    // A terminal and a pipe cannot be synced.
    guard ![EIO, ENOSPC, EDQUOT].contains(failure) else {
      throw .lostAnswer(.io("sync standard output", failure), isChanged: false)
    }
  }

  static func write(_ bytes: [UInt8]) throws(ToolError) {
    try bytes.withUnsafeBytes { bytes in Result { () throws(ToolError) in try write(bytes) } }.get()
  }

  static func write(_ text: String) throws(ToolError) { try write(Array(text.utf8)) }

  static func write(_ json: JSON) throws(ToolError) { try write(json.text + "\n") }
}

private let isChanged = Atomic(false)

/// Writes all of `bytes`.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ step: String) throws(ToolError) {
  if let number = failure(of: bytes, to: descriptor) { throw ToolError(VaultError.io(step, number)) }
}

/// Writes all of `bytes`. Returns the `errno` if that fails.
private func failure(of bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = DurableFiles.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if count < 0, errno == EAGAIN {
      // Another process that shares the pipe made it non-blocking.
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&room, 1, -1)
    } else if count == 0 || errno != EINTR {
      return count == 0 ? EIO : errno
    }
  }
  return nil
}
