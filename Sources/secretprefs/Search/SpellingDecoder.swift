internal import VaultCore

/// Writes a text as it was before terminals, URLs, XML and program texts were made of it: without escape sequences, and
/// with percent-encoding, entities and escapes decoded, in this order, whichever of them it has. It is decoded twice,
/// because one of them can be inside the other.
final class SpellingDecoder {
  /// A byte becomes at most this many.
  static let growth = 2
  /// The most bytes that are held back.
  static let held = 64

  private typealias Stages<Next: SpellingStage> = PercentDecoder<EntityDecoder<EscapeDecoder<Next>>>

  private let text: SearchedText
  private let characters: CharacterDecoder
  private let stages: Stages<Stages<CharacterDecoder>>
  /// Those behind the first, with which the rest of ``stages`` begins.
  private let laterStages: [any SpellingStage]
  private var sequence = EscapeSequence()
  /// The last byte, if it is an ESC that ends no string for the terminal.
  private var escape: SpelledByte?
  /// Whether the escape sequences of terminals are left out.
  private let dropsSequences: Bool
  /// Whether the next byte may belong to an escape or a sequence.
  private var isInside = false

  init(into text: SearchedText, dropsSequences: Bool = true) throws(VaultError) {
    self.dropsSequences = dropsSequences
    self.text = text
    characters = try CharacterDecoder(text)
    let lastEscape = try EscapeDecoder(characters)
    let lastEntity = try EntityDecoder(lastEscape)
    let lastPercent = PercentDecoder(lastEntity)
    let escape = try EscapeDecoder(lastPercent)
    let entity = try EntityDecoder(escape)
    stages = PercentDecoder(entity)
    laterStages = [entity, escape, lastPercent, lastEntity, lastEscape]
  }

  /// Where the first byte begins that is held back, modulo 2^32.
  var pending: UInt32? { stages.pending ?? escape?.start }

  func add(_ bytes: UnsafeRawBufferPointer, from place: UInt32) {
    var index = 0
    while index < bytes.count {
      if !isInside, !characters.hasBeginning {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        let start = place &+ UInt32(truncatingIfNeeded: index)
        index += text.appendCharacters(rest, from: start)
        guard index < bytes.count else { break }
      }
      let (byte, start) = (bytes[index], place &+ UInt32(truncatingIfNeeded: index))
      index += 1
      let spelled = SpelledByte(byte: byte, spelling: [], start: start, end: start &+ 1)
      if !isInside, byte >= 0x80 {
        characters.take(spelled)
        continue
      }
      take(spelled)
      isInside = !sequence.isIdle || !stages.isIdle
    }
  }

  private func take(_ spelled: SpelledByte) {
    guard dropsSequences else { return stages.take(spelled) }
    if let escape, spelled.byte == UInt8(ascii: "\\") {
      // The ESC is of the value, and what follows it was quoted.
      sequence = EscapeSequence()
      stages.take(escape)
    }
    escape = spelled.byte == 0x1B && !sequence.isString ? spelled : nil
    if !sequence.take(spelled.byte) { stages.take(spelled) }
  }

  /// The number of decoders that may have made a text from one that was encoded.
  var depth: Int { laterStages.count }

  /// Decodes a text as if the first decoders had made it from one that was encoded, so that they do not decode it.
  ///
  /// - Parameter count: how many, from 1 to ``depth``.
  func add(_ text: UnsafeRawBufferPointer, after count: Int) {
    let stage = laterStages[count - 1]
    for byte in text { stage.take(SpelledByte(byte: byte, spelling: [], start: 0, end: 1)) }
    stage.finish()
  }

  /// Passes on everything, at the end of the text.
  func finish() {
    stages.finish()
    sequence = EscapeSequence()
    escape = nil
    isInside = false
  }
}
