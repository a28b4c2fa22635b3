package import DurableFiles
public import Preferences
public import VaultCore

/// A view of a plain store, such as a settings file, that seals each value.
///
/// ```swift
/// let sealer = ValueSealer(key: "settings-key", in: tokens)      // a record of the vault
/// let settings = try JSONPreferences(at: "settings.json").sealed(by: sealer, as: "settings")
/// try settings.set(Secret("s3cret"), forKey: "smtp.password")     // "spv-sealed-1:…" in the file
/// ```
///
/// Values are read with the type they were written with, and may be secrets. A value that was changed, moved to a
/// different key or store, or sealed with a different sealing key throws ``VaultError/Code/tampered``; a plain value
/// throws ``VaultError/Code/malformed``. A missing sealing key throws ``VaultError/Code/notFound``, and a locked vault
/// ``VaultError/Code/locked``. Setting a value replaces whatever is stored, without opening it.
///
/// The names and the lengths of the values are visible in the store. Someone who can write to it can remove values, and
/// put back an older value of the same key: keep in the vault what must not be put back.
public struct SealedPreferences<Base: PreferencesReader>: GuardingReader {
  /// The plain reader, whose values are all sealed.
  public let base: Base
  private let place: StoreSealer

  fileprivate init(_ base: Base, _ place: StoreSealer) {
    self.base = base
    self.place = place
  }

  public var name: String { "\(base.name), sealed" }
  public var custody: Custody { .sealed }

  // MARK: Reading

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? {
    guard let stored = try stored(query.name) else { return nil }
    return try place.withOpened(stored, for: query.name.text, SecretCoding.decode).get()
  }

  /// Returns the value in guarded memory, or `nil` if it is absent. It is copied there and nowhere else.
  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? { try content(query.name) }

  /// The names of the store. Opens no value, and needs no sealing key.
  public func names(of secrecy: Secrecy) throws -> [PreferenceName] { PreferenceName.valid(try base.keys()) }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  private func stored(_ name: PreferenceName) throws -> PreferenceValue? {
    try base.value(for: PreferenceQuery(name, as: .string))
  }

  private func content(_ name: PreferenceName) throws -> GuardedContent? {
    try stored(name).map { stored throws(VaultError) in try place.open(stored, for: name.text) }
  }
}

extension SealedPreferences: PreferencesStore where Base: PreferencesStore {
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    var attempts = Attempts()
    while let (sealed, compared) = try sealed(edits) {
      attempts.add(compared)
      let outcome = try base.edit(sealed)
      if attempts.isLast(outcome) { return outcome }
    }
    return .conflict
  }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    var attempts = Attempts()
    while let (sealed, compared) = try await reading({ try $0.sealed(edits) }) {
      attempts.add(compared)
      let outcome = try await base.edit(sealed)
      if attempts.isLast(outcome) { return outcome }
    }
    return .conflict
  }

  /// Seals every value that needs a previous sealing key again with the present one. Call it after
  /// ``ValueSealer/renewSealingKey()``.
  ///
  /// The values are replaced in one transaction, which is repeated until no value is left that needs a previous
  /// sealing key. A file is read again first, with the values of other processes, unless it is a layer of a composite
  /// or is saved explicitly: save or reload it before.
  ///
  /// A process that read the previous sealing key just before it was renewed may store a value with it afterwards.
  /// Before ``ValueSealer/forgetPreviousSealingKeys()``, reload the store in every process, and call this again.
  /// - Throws: an error if a value does not open, with nothing changed by this transaction; any error of the store.
  public func resealAll() throws {
    var edits = PreferenceEdits()
    repeat {
      // Applied even without edits: a file is then only read.
      try Self.check(try base.apply(edits))
      edits = try resealed()
    } while !edits.isEmpty
  }

  /// The asynchronous form of `resealAll()`; does not block the calling thread.
  public func resealAll() async throws {
    var edits = PreferenceEdits()
    repeat {
      try Self.check(try await base.apply(edits))
      edits = try await reading { try $0.resealed() }
    } while !edits.isEmpty
  }

  /// Without this check, a value that stays in a layer above would be sealed again forever.
  private static func check(_ outcome: WriteOutcome) throws(PreferencesError) {
    guard case .shadowed(let layer) = outcome else { return }
    throw PreferencesError(.noStore, "a value in \"\(layer)\" needs a previous sealing key and is not replaced")
  }

  /// Edits that replace each text that needs a previous sealing key, unless it changes meanwhile.
  private func resealed() throws -> PreferenceEdits {
    var edits = PreferenceEdits()
    for name in try names(of: .secret) {
      guard let old = try stored(name), let new = try place.resealed(old, for: name.text) else { continue }
      edits.append(.init(name, to: .value(new), if: .ifStored(.value(old))))
    }
    return edits
  }

  /// The edits of the underlying store, and the stored texts that were compared; `nil` if a condition does not hold.
  private func sealed(_ edits: PreferenceEdits) throws -> (PreferenceEdits, compared: [PreferenceValue?])? {
    var compared: [PreferenceValue?] = []
    var sealed = PreferenceEdits([], clearing: edits.clears)
    sealed.isUnordered = edits.isUnordered
    for edit in edits.edits {
      var condition = PreferenceEdits.Condition.always
      if case .ifStored(let expected) = edit.condition {
        // The value is compared here, and the store compares the text: each seal of a value is a different text.
        let stored = try stored(edit.name)
        let content = try stored.map { stored in
          PreferenceContent.guarded(try place.open(stored, for: edit.name.text))
        }
        guard try content.isSame(as: expected) else { return nil }
        condition = .ifStored(stored.map(PreferenceContent.value))
        compared.append(stored)
      }
      let text = try edit.content.map { try place.seal($0, for: edit.name.text) }
      sealed.append(.init(edit.name, to: text.map(PreferenceContent.value), if: condition))
    }
    return (sealed, compared)
  }
}

/// The attempts of a compare-and-set. If the store reports a conflict, the text may have been replaced by a new seal of
/// the same value, so the values are compared again.
private struct Attempts {
  private var compared: [PreferenceValue?] = []
  private var isRepeated = true

  mutating func add(_ texts: [PreferenceValue?]) {
    isRepeated = texts == compared
    compared = texts
  }

  /// Whether the outcome is final: no conflict, or a conflict although no text has changed.
  func isLast(_ outcome: WriteOutcome) -> Bool { outcome != .conflict || isRepeated }
}

extension PreferencesReader {
  /// Returns the values of this reader, each of which is sealed; if it is a store, new values are sealed.
  ///
  /// The whole reader belongs to the view: a value in it that is not sealed is an error, and removing all values
  /// removes those, too. Use ``PreferencesReader/below(_:)`` to seal a part of a store.
  /// - Parameter store: identifies this store among those with the same sealing key, and must stay the same: a value
  ///   opens only in the store of the same name.
  /// - Throws: ``VaultError/Code/invalidName``.
  public func sealed(by sealer: ValueSealer, as store: String) throws(VaultError) -> SealedPreferences<Self> {
    SealedPreferences(self, try StoreSealer(sealer, store: store))
  }
}

/// Views of the same storage with the same name and the same sealing key have equal identities.
extension SealedPreferences: Identifiable {
  public var id: StoreIdentity {
    let sealer = place.sealer
    let names = [place.store.text, sealer.service.text, sealer.group.name.text, sealer.key]
    return StoreIdentity(
      StoreSealer.self, name: names.joined(separator: "\u{0}"), over: [base.identity, StoreIdentity(sealer.vault)])
  }
}

extension SealedPreferences: CustomStringConvertible, CustomReflectable {}

/// Each read opens a value with the sealing key, which is a record of the vault.
extension SealedPreferences: WaitingReader {
  package var threads: HelperPool? { .waiting(for: "reads of \(place.sealer.vault.path)") }
}
