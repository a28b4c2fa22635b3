/// The error type that a family of modules throws if a file operation fails.
package protocol FileFailure: Error {
  /// - Parameters:
  ///   - path: the name of the file in error messages.
  ///   - errno: the error number of the system call.
  init(_ operation: FileOperation, _ path: String, errno: Int32)

  /// The error for a path at which no file may be written.
  ///
  /// - Parameter reason: a clause without a subject, such as "is a vault".
  init(refusing path: String, because reason: String)
}

/// The file operation that failed.
package enum FileOperation: Sendable, CaseIterable {
  case create, examine, read, write, truncate, lock, watch, watchDirectory, makeDirectory
  /// Makes content and metadata durable, or content alone.
  case synchronize, synchronizeData
  /// Makes the names in a directory durable.
  case synchronizeDirectory
  /// Gives a complete file its final name.
  case rename
  /// Gives a new file what the replaced one lets others do.
  case keepAccessList, keepMode
}

/// The system's text for an error number, in the locale of the C library.
package func systemText(_ number: Int32) -> String {
  var text = [CChar](repeating: 0, count: 128)
  // strerror is not thread-safe.
  _ = unsafe strerror_r(number, &text, text.count)
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Repeats a call that a signal interrupted.
@inlinable
package func retrying<I: FixedWidthInteger>(_ call: () -> I) -> I {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

/// Reads once from a descriptor that other processes share, and repeats a call that a signal interrupted. Waits for
/// input also if one of them made the descriptor non-blocking.
package func readWaiting(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
  while true {
    let count = retrying { unsafe read(descriptor, buffer.baseAddress, buffer.count) }
    guard count == -1, errno == EAGAIN else { return count }
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&input, 1, -1)
  }
}
