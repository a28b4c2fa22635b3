/// Whether a value is secret. A lookup is plain or secret, too: see ``Custody``.
public enum Secrecy: Sendable, Hashable {
  /// Kept in layers that hold plain values: a locked vault never takes a plain setting away.
  case plain
  /// Kept in sealed layers: a plain default never stands in for a missing password.
  case secret
}
