internal import VaultCore

/// Decodes the entities of XML and HTML, also if `&` was encoded several times.
final class EntityDecoder<Next: SpellingStage>: SpellingStage {
  /// The longest spelling without its semicolon, such as `&#x0010FFFF`.
  private static var longest: Int { 11 }

  private let next: Next
  /// An ampersand, and what follows it.
  private let held: GuardedArray<SpelledByte>
  private var count = 0

  init(_ next: Next) throws(VaultError) {
    self.next = next
    held = try GuardedArray(count: Self.longest)
  }

  var isIdle: Bool { count == 0 && next.isIdle }
  var pending: UInt32? { next.pending ?? (count == 0 ? nil : held.base[0].start) }

  func take(_ spelled: SpelledByte) {
    switch spelled.byte {
    case UInt8(ascii: "&") where count == 0: hold(spelled)
    case _ where count == 0: next.take(spelled)
    case UInt8(ascii: ";"):
      guard let scalar = HTMLEntities.scalar(named: name) else { fallthrough }
      var decoded = held.base[0]
      decoded.spelling.insert(.entity)
      decoded.end = spelled.end
      count = 0
      if scalar == "&" {
        decoded.byte = UInt8(ascii: "&")
        hold(decoded)  // &amp;lt; is &lt; that was encoded again
      } else {
        next.take(scalar.value, spelledAs: decoded)
      }
    default:
      guard count < Self.longest, HTMLEntities.isInName(spelled.byte) else {
        release()
        return take(spelled)
      }
      hold(spelled)
    }
  }

  func finish() {
    release()
    next.finish()
  }

  private func hold(_ spelled: SpelledByte) {
    held.base[count] = spelled
    count += 1
  }

  private func release() {
    for index in 0..<count { next.take(held.base[index]) }
    count = 0
  }

  private var name: some Collection<UInt8> { (1..<max(count, 1)).lazy.map { [held] in held.base[$0].byte } }
}
