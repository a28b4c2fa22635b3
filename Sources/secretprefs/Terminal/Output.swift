internal import Glibc
internal import Synchronization

/// Standard output, where data alone goes. Every write is checked: lost output is a failure, and its class tells whether
/// the command has changed anything before.
enum Output {
  /// Notes that what the command was to change is changed, and durable. What it writes from now on is its answer.
  static func noteChange() { isChanged.store(true, ordering: .relaxed) }

  static func write(_ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    do throws(ToolError) { try writeAll(bytes, to: STDOUT_FILENO, "write to standard output") } catch {
      throw .lostAnswer(error, isChanged: isChanged.load(ordering: .relaxed))
    }
  }

  static func write(_ bytes: [UInt8]) throws(ToolError) {
    try bytes.withUnsafeBytes { bytes in Result { () throws(ToolError) in try write(bytes) } }.get()
  }

  static func write(_ text: String) throws(ToolError) { try write(Array(text.utf8)) }

  static func write(_ json: JSON) throws(ToolError) { try write(json.text + "\n") }
}

private let isChanged = Atomic(false)

/// Writes all of `bytes`, in one call unless the system takes less.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ step: String) throws(ToolError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if count < 0, errno == EAGAIN {
      // Somebody who shares the pipe made it non-blocking.
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&room, 1, -1)
    } else if count == 0 || errno != EINTR {
      throw .io(step, count == 0 ? EIO : errno)
    }
  }
}
