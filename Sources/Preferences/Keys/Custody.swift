/// Which values a reader holds, and which names its sealed layers claim. It never changes, unless it is
/// ``replaceable``.
///
/// 1. Every value is plain or secret, and the custody of a reader declares which it holds. Plain values are looked up
///    in layers that hold plain values, secrets in layers that hold secrets, in order. A failing layer ends the lookup.
/// 2. A lookup is secret if its key is secret, or if a sealed layer claims its name; otherwise it is plain, by key and
///    by name alike.
/// 3. A claim is fixed when the layer is made and never depends on content, so it holds while the vault is locked and
///    passes through views and nested composites.
/// 4. So a locked vault affects only names that are claimed or looked up as secrets, and no plain layer ever returns,
///    or receives, such a value.
/// 5. A store that is used directly was chosen by the caller: a sealed one returns any value, a plain one never holds a
///    secret.
public struct Custody: Sendable {
  /// Which of the two kinds of values.
  private struct Kinds: Sendable {
    var plain = false
    var secrets = false
  }

  /// What a reader holds.
  private let held: Kinds
  /// What a store accepts: nothing of a kind if all layers that hold it are read-only.
  private let taken: Kinds
  /// The names that are secret; `nil` for a sealed store that has not declared its claim.
  private(set) var claim: PreferenceClaim?
  /// Whether the underlying store can be replaced by a different store.
  private(set) var isReplaceable = false

  private init(holding held: Kinds, taking taken: Kinds, _ claim: PreferenceClaim?) {
    self.held = held
    self.taken = taken
    self.claim = claim
  }

  /// A reader of plain values.
  public static let plain = Custody(holding: Kinds(plain: true), taking: Kinds(plain: true), .nothing)
  /// A store that keeps its values sealed. As a layer of a composite it must claim names:
  /// ``PreferencesReader/claiming(_:)``.
  public static let sealed = Custody(holding: Kinds(secrets: true), taking: Kinds(secrets: true), nil)

  /// The same custody, for a store that forwards to a store that can be replaced. A view uses the custody of the
  /// current store, unless the view is mounted or claims names. A composite keeps the custody from its creation: plain
  /// names are still looked up in a vault that replaces a plain store, and a plain store that replaces a vault returns
  /// no secrets and refuses to store them.
  public var replaceable: Custody {
    var custody = self
    custody.isReplaceable = true
    return custody
  }

  /// The custody that a composite keeps.
  var fixed: Custody {
    var custody = self
    custody.isReplaceable = false
    return custody
  }

  /// The custody of a composite of `layers`.
  init(of layers: [any PreferencesReader]) {
    let parts = layers.map(\.custody.fixed)
    let stores = layers.filter { $0 is any PreferencesStore }.map(\.custody.fixed)
    self.init(
      holding: Kinds(plain: parts.contains(where: \.held.plain), secrets: parts.contains(where: \.held.secrets)),
      taking: Kinds(plain: stores.contains(where: \.taken.plain), secrets: stores.contains(where: \.taken.secrets)),
      .any(of: parts.compactMap(\.claim)))
  }

  /// Whether the reader holds values of this secrecy. Dumps and merged dictionaries redact secrets.
  public func holds(_ secrecy: Secrecy) -> Bool { secrecy == .secret ? held.secrets : held.plain }

  /// Whether a store with this custody accepts values of this secrecy.
  public func takes(_ secrecy: Secrecy) -> Bool { secrecy == .secret ? taken.secrets : taken.plain }

  /// The secrecy of a lookup: secret if `asked` is secret, or if a sealed layer claims `name` or declares no claim.
  public func secrecy(of name: PreferenceName, asked: Secrecy = .plain) -> Secrecy {
    guard asked == .plain, held.secrets else { return asked }
    return claim?.covers(name) ?? true ? .secret : .plain
  }

  /// A value of a plain layer without the entries, at any depth, whose names, with dots, a sealed layer claims. A
  /// string with a JSON object that has such an entry becomes a dictionary, as the conversion of a key may read it.
  func withoutClaimed(_ value: PreferenceValue, under name: String) -> PreferenceValue {
    guard claimedName(in: value, under: name) != nil, case .dictionary(let members) = value.unfolded else {
      return value
    }
    var rest: [String: PreferenceValue] = [:]
    for (key, member) in members {
      let inner = "\(name).\(key)"
      if !isClaimed(inner) { rest[key] = withoutClaimed(member, under: inner) }
    }
    return .dictionary(rest)
  }

  /// A name in a dictionary or in the text of a JSON object, with dots, that a sealed layer claims; `nil` if it claims
  /// none.
  func claimedName(in value: PreferenceValue, under name: String) -> String? {
    guard held.secrets, case .dictionary(let members) = value.unfolded else { return nil }
    for (key, member) in members {
      let inner = "\(name).\(key)"
      if isClaimed(inner) { return inner }
      if let claimed = claimedName(in: member, under: inner) { return claimed }
    }
    return nil
  }

  private func isClaimed(_ name: String) -> Bool {
    PreferenceName.valid([name]).contains { secrecy(of: $0) == .secret }
  }

  /// The same custody with more names claimed; unchanged if the reader holds no secrets.
  func claiming(_ more: PreferenceClaim) -> Custody {
    guard held.secrets else { return self }
    return with(.any(of: [claim ?? .nothing, more]))
  }

  /// The custody of a view under other names.
  func mapped(_ mapping: NameMapping) -> Custody {
    guard !mapping.isIdentity, let claim else { return self }
    return with(claim.mapped(mapping))
  }

  private func with(_ claim: PreferenceClaim) -> Custody {
    var custody = self
    custody.claim = claim
    return custody
  }
}

/// The names that a sealed layer claims. They are secret on every path, by key and by name.
public struct PreferenceClaim: Sendable {
  private indirect enum Form: Sendable {
    case nothing, everything
    case names(Set<PreferenceName>)
    case prefix(String)
    case any([Form])
    case mapped(Form, NameMapping)
  }

  private let form: Form

  static let nothing = PreferenceClaim(form: .nothing)
  /// All names: nothing is looked up in plain layers.
  public static let everything = PreferenceClaim(form: .everything)

  /// The given names. A name that breaks the rule of ``PreferenceName`` is never looked up, and is left out.
  public static func names(_ names: some Sequence<String>) -> Self {
    Self(form: .names(Set(PreferenceName.valid(names))))
  }

  /// All names that begin with `prefix`.
  public static func prefix(_ prefix: String) -> Self { Self(form: .prefix(prefix)) }

  static func any(of claims: [Self]) -> Self {
    let forms = claims.map(\.form).filter { if case .nothing = $0 { false } else { true } }
    return Self(form: forms.isEmpty ? .nothing : forms.count == 1 ? forms[0] : .any(forms))
  }

  func mapped(_ mapping: NameMapping) -> Self {
    if case .nothing = form { self } else { Self(form: .mapped(form, mapping)) }
  }

  func covers(_ name: PreferenceName) -> Bool { Self.covers(form, name) }

  private static func covers(_ form: Form, _ name: PreferenceName) -> Bool {
    switch form {
    case .nothing: return false
    case .everything: return true
    case .names(let names): return names.contains(name)
    case .prefix(let prefix): return name.text.hasPrefix(prefix)
    case .any(let forms): return forms.contains { covers($0, name) }
    case .mapped(let form, let mapping):
      // The lookup itself rejects a name that has no underlying name.
      do throws(PreferencesError) { return try mapping.underneath(name).map { covers(form, $0) } ?? false } catch {
        return false
      }
    }
  }
}
