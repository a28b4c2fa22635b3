internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The clipboard of the user's own machine, also over ssh: the terminal sets it (OSC 52).
final class Clipboard {
  /// The longest value. Terminals limit a sequence to 100,000 bytes, as hterm did first. Eight of these are not base64
  /// of the value.
  static let longestValue = 74_994
  /// The seconds after which the clipboard is cleared, as in `pass`.
  static let usualTime = 45
  static let times = 1...3600

  /// The time of the configuration, or the usual one.
  static var configuredTime: Int {
    get throws(ToolError) { Int(try Configuration.value(of: .clearAfter, option: nil)) ?? usualTime }
  }

  /// The names of terminals without a clipboard: the console of Linux, and hardware.
  private static let without = ["", "dumb", "linux", "ansi", "vt52", "vt100", "vt102", "vt220", "vt320"]

  private let terminal: Descriptor<VaultError>
  private let multiplexer: Multiplexer
  private var before: [(number: Int32, action: sigaction)] = []

  /// Opens the controlling terminal.
  init() throws(ToolError) {
    do throws(VaultError) {
      terminal = try Descriptor.open("/dev/tty", O_WRONLY | O_NOCTTY) { .io("open the terminal", $0) }
    } catch { throw .usage("there is no terminal whose clipboard could be set", hint: "use the command on a terminal") }
    guard !Self.without.contains(Multiplexer.terminal) else {
      throw .usage("this terminal has no clipboard that a program could set", hint: "print the value, without --clip")
    }
    guard let multiplexer = Multiplexer.current else {
      throw .usage(
        "screen or tmux is between this program and the terminal, and which of the two is not known",
        hint: "run it with $TMUX or $STY of the session (sudo --preserve-env=TMUX,STY), or print the value")
    }
    self.multiplexer = multiplexer
    guard multiplexer.mayPass else {
      throw .usage("tmux does not pass the clipboard on", hint: "tmux set -p allow-passthrough on")
    }
  }

  deinit { PendingSignal.restore(before) }

  /// Copies the bytes that `get` writes. From now on signals wait for ``clear(after:_:)``.
  func copy(_ kind: ValueKind, _ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    before = PendingSignal.catchAll()
    guard let text = ValueText(kind, bytes) else { return try set(bytes) }
    try Array(text.text.utf8).withUnsafeBytes { bytes in Result { () throws(ToolError) in try set(bytes) } }.get()
  }

  /// Waits, and clears the clipboard. A signal clears it at once and then takes effect.
  func clear(after seconds: Int, _ messages: Messages) throws(ToolError) {
    let doubt = multiplexer.isKnownToPass ? "" : ", if tmux passes it on (allow-passthrough)"
    messages.note(
      "sent to the clipboard of the terminal\(doubt), which is cleared in \(seconds) s, or now with Ctrl-C")
    let end = ContinuousClock.now + .seconds(seconds)
    while !PendingSignal.isPending, ContinuousClock.now < end {
      _ = poll(nil, 0, 50)  // limits the delay of a signal that arrives before the call
    }
    try set(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func set(_ value: UnsafeRawBufferPointer) throws(ToolError) {
    guard value.count <= Self.longestValue else {
      throw ToolError(
        VaultError(.valueTooLarge, "the value is longer than terminals can copy (\(Self.longestValue) bytes)"),
        hint: "write it to standard output, without --clip")
    }
    let wrapped: GuardedBuffer
    do {
      let sequence = try SecretOutput(isCollecting: true)
      wrapped = try GuardedBuffer()
      try sequence.write("\u{1B}]52;c;")
      try sequence.writeBase64(value)
      try sequence.write("\u{07}")
      try sequence.withBytes { (bytes) throws(VaultError) in try multiplexer.wrap(bytes, into: wrapped) }
    } catch { throw ToolError(thrown: error) }
    try wrapped.withUnsafeBytes { (bytes) throws(ToolError) in
      try writeAll(bytes, to: terminal.raw, "write to the terminal")
    }
  }
}

/// A program between this one and the terminal, which forwards sequences that are wrapped for it.
private enum Multiplexer {
  case none, tmux, screen

  /// The name of the terminal.
  static var terminal: String { getenv("TERM").map { String(cString: $0) } ?? "" }

  /// `nil` if it is not known: tmux also calls its terminal screen, and its variables are lost over ssh and sudo.
  static var current: Multiplexer? {
    if getenv("TMUX") != nil || terminal.hasPrefix("tmux") { return .tmux }
    if getenv("STY") != nil { return .screen }
    return terminal.hasPrefix("screen") ? nil : Multiplexer.none
  }

  /// Whether what is sent reaches the terminal, as far as can be known.
  var isKnownToPass: Bool { self != .tmux || getenv("TMUX") != nil }

  /// Whether it forwards what is wrapped, as far as it says so. tmux has forwarded nothing since version 3.3, unless
  /// its option `allow-passthrough` is set; older versions do not know the option.
  var mayPass: Bool {
    guard self == .tmux, getenv("TMUX") != nil else { return true }
    do {
      let program = try OtherProgram("tmux", ["tmux", "show-options", "-Apqv", "allow-passthrough"], isQuiet: true)
      let answer = try ValueReader.read(program.output, atMost: 64, "read the answer of tmux")
      return try !program.succeeds() || answer.withUnsafeBytes { !$0.starts(with: "off".utf8) }
    } catch { return true }
  }

  func wrap(_ sequence: UnsafeRawBufferPointer, into buffer: GuardedBuffer) throws(VaultError) {
    switch self {
    case .none: try buffer.append(sequence)
    case .tmux:
      // Without the wrapping, tmux would copy the value to its own buffers, and not clear them. The first byte, an
      // escape, is doubled.
      try buffer.append("\u{1B}Ptmux;\u{1B}")
      try buffer.append(sequence)
      try buffer.append("\u{1B}\\")
    case .screen:
      // screen drops strings of more than 768 bytes.
      for start in stride(from: 0, to: sequence.count, by: 256) {
        try buffer.append("\u{1B}P")
        try buffer.append(UnsafeRawBufferPointer(rebasing: sequence[start..<min(start + 256, sequence.count)]))
        try buffer.append("\u{1B}\\")
      }
    }
  }
}
