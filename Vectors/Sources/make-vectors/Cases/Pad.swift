/// Paddings that PAD would not write (2.4).
enum Pad {
  /// Mark and zeros up to a length of one's own.
  static func to(_ count: Int) -> (Bytes) -> Bytes {
    { $0 + [0x80] + .zeros(count - $0.count - 1) }
  }

  static func withoutMark(step: Int) -> (Bytes) -> Bytes {
    { $0 + .zeros(Sealing.pad($0, step: step).count - $0.count) }
  }

  static func longer(step: Int) -> (Bytes) -> Bytes {
    { Sealing.pad($0, step: step) + .zeros(step) }
  }

  static func otherMark(step: Int) -> (Bytes) -> Bytes {
    { $0 + [0x81] + Sealing.pad($0, step: step).dropFirst($0.count + 1) }
  }

  /// A byte behind the mark that is not zero.
  static func unclean(step: Int) -> (Bytes) -> Bytes {
    { Sealing.pad($0, step: step).dropLast() + [1] }
  }

  /// No body and no mark.
  static func zeros(step: Int) -> (Bytes) -> Bytes {
    { .zeros(Sealing.pad($0, step: step).count) }
  }
}
