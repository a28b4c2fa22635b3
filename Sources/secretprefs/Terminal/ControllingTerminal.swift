internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The controlling terminal, by default with echo turned off. Deinitialization restores its settings.
final class ControllingTerminal {
  /// The longest line that a terminal passes to a program. It silently drops the rest (`N_TTY`).
  static let longestLine = 4094

  private let descriptor: Int32
  private let echoes: Bool
  /// Whether the terminal marks what is pasted (bracketed paste, xterm's mode 2004).
  private let marksPaste: Bool
  private var normal: termios
  private var before: [(number: Int32, action: sigaction)] = []
  /// Whether the last line was ended by the key for the end of input.
  private var hasEnded = false
  private var marks = PastedText.Marks()

  /// Whether the process has a controlling terminal.
  static var exists: Bool {
    do {
      close(try open().0)
      return true
    } catch { return false }
  }

  /// Opens `/dev/tty`, even if standard input and output are redirected.
  ///
  /// - Parameters:
  ///   - echoes: Whether the terminal shows the input. Only for input that is not secret.
  ///   - marksPaste: Whether the terminal is asked to mark what is pasted, for ``askValue(_:)``.
  /// - Throws: ``VaultError/Code/noCredential`` if there is no terminal.
  init(echoes: Bool = false, marksPaste: Bool = false) throws(VaultError) {
    self.echoes = echoes
    self.marksPaste = marksPaste && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    let opened = try Self.open()
    descriptor = opened.descriptor
    normal = opened.normal
    try prepare()
  }

  deinit {
    restore()
    close(descriptor)
  }

  /// Shows a prompt and reads one line, without its line feed, into guarded memory. The line may be empty.
  /// - Throws: ``VaultError/Code/noCredential`` if a signal arrives, see ``PendingSignal``.
  func ask(_ question: String) throws(VaultError) -> SecretBytes {
    show(question)
    do throws(VaultError) {
      let line = try readLine(question)
      if !echoes { show("\n") }
      return line
    } catch {
      discardMore()
      throw error
    }
  }

  /// Shows a prompt and reads a value: one line, without its line feed, or several lines that are pasted at once, with
  /// the line feed of the last one. Asks again after a key that types no character.
  /// - Throws: ``VaultError/Code/noCredential`` if a signal arrives; a usage error, with all lines dropped, for several
  ///   lines that the terminal does not mark as pasted: nothing says where they end.
  func askValue(_ question: String) throws -> SecretBytes {
    do {
      while true {
        if let value = try askOnce(question) { return value }
        show("A key that types no character was pressed, such as an arrow. Type the value again.\n")
      }
    } catch {
      discardMore()
      throw error
    }
  }

  /// - Returns: `nil` if a control character was typed.
  private func askOnce(_ question: String) throws -> SecretBytes? {
    let text = try GuardedBuffer()
    show(question)
    var paste = PastedText()
    repeat {
      let line = try readLine(question)
      try line.withUnsafeBytes { (line) throws(VaultError) in try paste.add(line, to: text) }
      guard text.count <= ValueReader.longest else { throw VaultError(.valueTooLarge, "the pasted text is too long") }
    } while paste.isOpen && !hasEnded
    show("\n")
    guard !paste.isOpen else { throw ToolError.usage("what was pasted has no end; nothing was stored") }
    guard !discardMore() else {
      throw ToolError.usage(
        "the value has several lines; nothing was stored", hint: "--file, or standard input, takes several lines")
    }
    guard !paste.hasTypedControl else { return nil }
    let count = text.withUnsafeBytes(PastedText.count(of:))
    var value = try SecretBytes(count: count)
    text.withUnsafeBytes { text in
      value.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[..<count])) }
    }
    return value
  }

  /// - Parameter question: shown again when the process was stopped.
  private func readLine(_ question: String) throws(VaultError) -> SecretBytes {
    var line = try SecretBytes(count: Self.longestLine)
    var count = 0
    while try isReady(question) {
      let read = line.withUnsafeMutableBytes { line in
        retrying { DurableFiles.read(descriptor, line.baseAddress! + count, 1) }
      }
      guard read >= 0 else { throw .io("read from the terminal") }
      hasEnded = read == 0
      if read == 0 { break }
      let byte = line.withUnsafeBytes { $0[count] }
      marks.take(byte)
      if byte == UInt8(ascii: "\n") { break }
      count += 1
      guard count < Self.longestLine else {
        throw VaultError(
          .valueTooLarge, "the line is longer than a terminal can pass to a program",
          cause: Cure(hint: "pass it in a file or through a pipe: secretprefs set <key> --file value.txt"))
      }
    }
    return try line.prefix(count)
  }

  /// Discards what follows at once, as when several lines are pasted, until none has come for a while. A shell would
  /// run it. The end of what is pasted, which the terminal marks, is waited for longer.
  ///
  /// - Returns: Whether anything followed.
  @discardableResult
  private func discardMore() -> Bool {
    var hasMore = false
    // A last line without a line feed can be seen only so.
    var mode = termios()
    guard tcgetattr(descriptor, &mode) == 0 else { return false }
    var lines = mode
    mode.c_lflag &= ~tcflag_t(ICANON)
    _ = retrying { tcsetattr(descriptor, TCSANOW, &mode) }
    defer { _ = retrying { tcsetattr(descriptor, TCSANOW, &lines) } }
    // The signal that ends the prompt does not end this. A key that is held down would go on for ever.
    let isInterrupted = PendingSignal.isPending
    let end = ContinuousClock.now + .seconds(10)
    while isInterrupted || !PendingSignal.isPending, ContinuousClock.now < end,
      let byte = nextByte(within: marks.isOpen ? 2000 : hasMore ? 300 : 50)
    {
      hasMore = true
      marks.take(byte)
    }
    return hasMore
  }

  /// `nil` if none comes in this time, in milliseconds.
  private func nextByte(within time: Int32) -> UInt8? {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    return poll(&input, 1, time) > 0 && DurableFiles.read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  /// Waits for input and handles signals. Returns true or throws.
  private func isReady(_ question: String) throws(VaultError) -> Bool {
    while true {
      if let number = PendingSignal.take() { try obey(number, question) }
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // The timeout limits the delay of a signal that arrives between `take()` and `poll`.
      if poll(&input, 1, 100) > 0 { return true }
    }
  }

  private func obey(_ number: Int32, _ question: String) throws(VaultError) {
    guard number == SIGTSTP else {
      PendingSignal.keep(number)
      show("\n")
      throw VaultError(.noCredential, "interrupted")
    }
    discardMore()
    restore()
    raise(SIGTSTP)  // returns when the shell continues this process
    try prepare()
    show(question)
  }

  private static func open() throws(VaultError) -> (descriptor: Int32, normal: termios) {
    let descriptor = DurableFiles.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    var normal = termios()
    if descriptor >= 0, tcgetattr(descriptor, &normal) == 0 { return (descriptor, normal) }
    if descriptor >= 0 { close(descriptor) }
    throw VaultError(.noCredential, "there is no terminal to prompt on")
  }

  private func prepare() throws(VaultError) {
    normal = Self.mode(of: descriptor) ?? normal
    before = PendingSignal.catchAll()
    var asking = normal
    asking.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    asking.c_lflag |= tcflag_t(ICANON | ISIG) | (echoes ? tcflag_t(ECHO) : 0)
    // Enter ends a line, also where a program that was killed has left the mode of its own keys.
    asking.c_iflag &= ~tcflag_t(INLCR | IGNCR)
    asking.c_iflag |= tcflag_t(ICRNL)
    guard Self.set(&asking, descriptor) else {
      let error = VaultError.io("set the terminal's echo")
      PendingSignal.restore(before)
      throw error
    }
    if marksPaste { show(PastedText.marksOn) }
  }

  /// Restores the settings and discards unread input, which a shell would run as a command.
  private func restore() {
    if marksPaste { show(PastedText.marksOff) }
    _ = Self.set(&normal, descriptor)
    PendingSignal.restore(before)
    before = []
  }

  /// The mode of a terminal; `nil`, with `errno`, if it has none. In the background, this process stops first, until
  /// the shell continues it in the foreground: before, the mode is the one in which the shell reads its own commands.
  static func mode(of descriptor: Int32) -> termios? {
    _ = retrying { tcdrain(descriptor) }
    var mode = termios()
    return tcgetattr(descriptor, &mode) == 0 ? mode : nil
  }

  /// Whether this process is in the foreground of a terminal. In the background, reading from it or setting its mode
  /// would stop this process.
  static func isForeground(of descriptor: Int32) -> Bool { tcgetpgrp(descriptor) == getpgrp() }

  static func set(_ mode: inout termios, _ descriptor: Int32) -> Bool {
    retrying { tcsetattr(descriptor, TCSAFLUSH, &mode) } == 0
  }

  private func show(_ text: String) {
    var text = text
    _ = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
  }
}
