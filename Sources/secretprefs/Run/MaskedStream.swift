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
  private let output: GuardedBuffer
  /// The number of bytes of ``output`` that are written.
  private var written = 0
  private var lastRead = ContinuousClock.now
  private(set) var isOpen = true
  private var isClosed = false
  /// The `errno` of the write that failed. Later output is dropped. A source that is a pipe is closed,
  /// so that the program's writes fail, too.
  private(set) var failure: Int32?

  init(from source: Int32, to target: Int32, _ search: ValueSearch) throws(VaultError) {
    self.source = source
    self.target = target
    mask = try OutputMask(search)
    output = try GuardedBuffer()
    block = try SecretBytes(count: OutputMask.blockSize)
    _ = fcntl(source, F_SETFL, O_NONBLOCK)
  }

  deinit { if !isClosed { close(source) } }

  var hasOutput: Bool { written < output.count }
  /// Whether ``pause()`` may show something.
  var isWaiting: Bool { isOpen && mask.isWaiting }

  /// Reads once.
  /// - Returns: whether there was something.
  func read() throws(VaultError) -> Bool {
    let count = block.withUnsafeMutableBytes { block in
      retrying { DurableFiles.read(source, block.baseAddress, block.count) }
    }
    guard count > 0 else {
      if count == 0 || errno != EAGAIN { isOpen = false }  // a terminal that no program has open gives an error
      return false
    }
    lastRead = .now
    try block.withUnsafeBytes { (block) throws(VaultError) in
      try mask.add(UnsafeRawBufferPointer(rebasing: block[..<count]), to: output)
    }
    return true
  }

  func pause() throws(VaultError) {
    if .now - lastRead >= Self.quiet { try mask.pause(to: output) }
  }

  /// Writes once, as much as there is room for.
  func write() {
    guard failure == nil else { return dropOutput() }
    let count = output.withUnsafeBytes { output in
      DurableFiles.write(target, output.baseAddress! + written, min(output.count - written, Self.writeSize))
    }
    if count > 0 {
      written += count
      if !hasOutput { dropOutput() }
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      failure = count == 0 ? EIO : errno
      dropOutput()
      guard isatty(source) == 0 else { return }
      close(source)
      isOpen = false
      isClosed = true
    }
  }

  /// Reads the available output and writes all of it.
  ///
  /// - Parameter isEnd: Whether no more output follows.
  func drain(isEnd: Bool) throws(VaultError) {
    // A process that the program has left behind may write forever.
    for _ in 0..<64 {
      writeAll()
      guard isOpen else { break }
      guard try read() else { break }
    }
    if isEnd { try mask.end(to: output) }
    writeAll()
  }

  private func dropOutput() {
    output.truncate(to: 0)
    written = 0
  }

  private func writeAll() {
    while hasOutput {
      var room = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
      if failure == nil { _ = poll(&room, 1, -1) }
      write()
    }
  }
}
