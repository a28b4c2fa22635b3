/// Which layers may answer for a preference and hold its value.
public enum Secrecy: Sendable, Hashable {
  /// Layers that are not sealed: a locked vault never takes a plain setting away.
  case plain
  /// Sealed layers: a missing password is never answered by a plain default.
  case secret
  /// All layers, in order.
  case any

  /// Whether a layer that is sealed, or is not, may be asked and written to.
  func admits(sealed isSealed: Bool) -> Bool {
    switch self {
    case .plain: !isSealed
    case .secret: isSealed
    case .any: true
    }
  }
}
