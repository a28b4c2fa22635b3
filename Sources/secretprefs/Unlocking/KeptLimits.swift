internal import DurableFiles
internal import VaultCore

/// When a kept key ends.
///
/// The kernel removes the key by the system's clock, which can be set. So the end is also stored with the key, on the
/// clock that counts from the boot, and a key is refused if the two clocks have moved apart since it was kept.
struct KeptLimits {
  /// The two clocks, in milliseconds.
  struct Clocks {
    let boot: Int64
    let system: Int64

    static var now: Clocks { Clocks(boot: bootMilliseconds(), system: Vault.Options.systemClock()) }
  }

  static let longestSeconds: Int64 = 86_400
  /// How far the clocks may move apart, for a leap second and corrections of the time.
  static let toleratedMilliseconds: Int64 = 10_000

  private let end: Int64
  private let difference: Int64
  let idleSeconds: Int64

  /// Reads `--for` and `--idle`.
  init(hard: String, idle: String, now: Clocks) throws(ToolError) {
    let hard = try Self.seconds(hard, of: "--for")
    end = now.boot + hard * 1000
    difference = now.system - now.boot
    idleSeconds = min(try Self.seconds(idle, of: "--idle"), hard)
  }

  static let form = "a whole number of \(Expiry.units(upTo: longestSeconds * 1000)), from 1s to 24h"

  /// `nil` for a text that is not such a time.
  static func seconds(_ text: String) -> Int64? {
    guard let seconds = Expiry.milliseconds(text).map({ $0 / 1000 }), (1...longestSeconds).contains(seconds) else {
      return nil
    }
    return seconds
  }

  private static func seconds(_ text: String, of option: StaticString) throws(ToolError) -> Int64 {
    guard let seconds = seconds(text) else {
      throw .usage("\(option) must be \(form)", hint: "\(option) 15m, 90s, 8h")
    }
    return seconds
  }

  /// Whether the idle time may end before the hard limit, so that a use begins it again.
  func hasIdleTime(at now: Clocks) -> Bool { idleSeconds < (end &- now.boot) / 1000 }

  /// The seconds after which the kernel removes the key unless it is used, rounded up. `nil` if its time is over.
  func seconds(at now: Clocks) -> UInt32? {
    // Wrapping: the numbers may be those of a key that a different program made.
    let rest = end &- now.boot
    guard rest > 0, rest <= Self.longestSeconds * 1000, idleSeconds > 0,
      (now.system - now.boot &- difference).magnitude <= Self.toleratedMilliseconds
    else { return nil }
    return UInt32(clamping: min(idleSeconds, (rest + 999) / 1000))
  }

  /// The end on the system's clock.
  var systemEnd: Int64 { end &+ difference }

  var idleText: String {
    switch idleSeconds {
    case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
    case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
    default: "\(idleSeconds)s"
    }
  }

  // MARK: With the key

  static let count = 3 * MemoryLayout<Int64>.size

  init(_ bytes: RawSpan) {
    end = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: Int64.self)
    difference = bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: Int64.self)
    idleSeconds = bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: Int64.self)
  }

  func write(to bytes: UnsafeMutableRawBufferPointer) {
    for (index, number) in [end, difference, idleSeconds].enumerated() {
      bytes.storeBytes(of: number, toByteOffset: 8 * index, as: Int64.self)
    }
  }
}
