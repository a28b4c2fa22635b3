internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Output of a program on its way to a descriptor of this process.
final class MaskedStream {
  /// How long nothing must be read before ``OutputMask/pause(to:)`` is called.
  static let quiet = Duration.milliseconds(50)
  /// The number of bytes that a pipe takes without waiting once it can be written to.
  private static let writeSize = 4096

  let source: Int32
  let target: Int32
  private let mask: OutputMask
  private var block: SecretBytes
  private var output: [UInt8] = []
  private var lastRead = ContinuousClock.now
  private(set) var isOpen = true
  private var isClosed = false
  /// The `errno` of the write that failed. Later output is dropped. A source that is a pipe is closed,
  /// so that the program's writes fail, too.
  private(set) var failure: Int32?

  init(from source: Int32, to target: Int32, _ search: ValueSearch) throws(VaultError) {
    (self.source, self.target, mask) = (source, target, try OutputMask(search))
    block = try SecretBytes(count: OutputMask.blockSize)
    _ = fcntl(source, F_SETFL, O_NONBLOCK)
  }

  deinit { if !isClosed { close(source) } }

  var hasOutput: Bool { !output.isEmpty }
  /// Whether ``pause()`` may show something.
  var isWaiting: Bool { isOpen && mask.isWaiting }

  /// Reads once.
  /// - Returns: whether there was something.
  func read() -> Bool {
    let count = block.withUnsafeMutableBytes { block in
      retrying { DurableFiles.read(source, block.baseAddress, block.count) }
    }
    guard count > 0 else {
      if count == 0 || errno != EAGAIN { isOpen = false }  // a terminal that no program has open gives an error
      return false
    }
    lastRead = .now
    block.withUnsafeBytes { mask.add(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: &output) }
    return true
  }

  func pause() {
    if .now - lastRead >= Self.quiet { mask.pause(to: &output) }
  }

  /// Writes once, as much as there is room for.
  func write() {
    guard failure == nil else { return output.removeAll() }
    let count = DurableFiles.write(target, output, min(output.count, Self.writeSize))
    if count > 0 {
      output.removeFirst(count)
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      failure = count == 0 ? EIO : errno
      output.removeAll()
      guard isatty(source) == 0 else { return }
      close(source)
      (isOpen, isClosed) = (false, true)
    }
  }

  /// Reads the available output and writes all of it.
  ///
  /// - Parameter isEnd: Whether no more output follows.
  func drain(isEnd: Bool) {
    // A process that the program has left behind may write forever.
    var blocks = 0
    repeat {
      writeAll()
      blocks += 1
    } while blocks < 256 && isOpen && read()
    if isEnd { mask.end(to: &output) }
    writeAll()
  }

  private func writeAll() {
    while hasOutput {
      var room = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
      if failure == nil { _ = poll(&room, 1, -1) }
      write()
    }
  }
}
