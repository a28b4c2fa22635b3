/// Whether a value is secret. A lookup is plain or secret, too: see ``Custody``.
public enum Secrecy: Sendable, Hashable {
  /// Stored in layers that hold plain values, which a locked vault does not affect.
  case plain
  /// Stored in sealed layers; a value in a plain layer never takes its place.
  case secret
}
