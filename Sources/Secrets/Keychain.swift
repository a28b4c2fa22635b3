public import FoundationEssentials
internal import Preferences
public import VaultCore

/// The interface of the library KeychainAccess, for code that used it: `Docs/Keychain.md` lists which calls are
/// supported.
///
/// ```swift
/// let keychain = try Keychain(service: "com.example.github-token", in: vault)
/// keychain["ann"] = "01234567-89ab-cdef"
/// try keychain.label("github.com (ann)").comment("access token").set("01234567-89ab-cdef", key: "ann")
/// ```
///
/// New code uses ``SecretPreferences``: a subscript, ``allKeys()`` and ``allItems()`` cannot throw, and report a
/// failure such as a locked vault to ``PreferenceFailures`` instead.
public struct Keychain: Sendable {
  /// The store that holds the items, with everything that this interface lacks.
  public let secrets: SecretPreferences
  private var accessibility: Vault.Accessibility?
  private var label: String?
  private var comment: String?
  private var attributes: [String: Data]?

  /// Creates the keychain of a service.
  /// - Throws: the errors of ``SecretPreferences/init(service:accessGroup:accessibility:keeping:in:)``.
  public init(
    service: String, accessGroup: String = AccessGroup.defaultName, in vault: Vault
  ) throws(VaultError) {
    secrets = try SecretPreferences(service: service, accessGroup: accessGroup, in: vault)
  }

  /// The application that the items belong to.
  public var service: String { secrets.service }
  /// The access group of the items.
  public var accessGroup: String { secrets.accessGroup }

  // MARK: Metadata of new values

  /// A keychain that sets values with this class.
  public func accessibility(_ accessibility: Vault.Accessibility) -> Keychain {
    with { $0.accessibility = accessibility }
  }
  /// A keychain that sets values with this label.
  public func label(_ label: String) -> Keychain { with { $0.label = label } }
  /// A keychain that sets values with this comment.
  public func comment(_ comment: String) -> Keychain { with { $0.comment = comment } }
  /// A keychain that sets values with these attributes.
  public func attributes(_ attributes: [String: Data]) -> Keychain { with { $0.attributes = attributes } }

  private func with(_ change: (inout Keychain) -> Void) -> Keychain {
    var keychain = self
    change(&keychain)
    return keychain
  }

  // MARK: Values

  /// Seals a string; durable when it returns.
  /// - Throws: the errors of ``SecretPreferences/transaction(_:)``.
  public func set(_ value: String, key: String) throws { try secrets.transaction { try seal(value, key, in: &$0) } }

  /// The asynchronous form of `set(_:key:)`; never blocks a cooperative thread.
  public func set(_ value: String, key: String) async throws {
    try await secrets.transaction { try seal(value, key, in: &$0) }
  }

  /// Seals data; durable when it returns.
  /// - Throws: the errors of ``SecretPreferences/transaction(_:)``.
  public func set(_ value: Data, key: String) throws { try secrets.transaction { try seal(value, key, in: &$0) } }

  /// The asynchronous form of `set(_:key:)`; never blocks a cooperative thread.
  public func set(_ value: Data, key: String) async throws {
    try await secrets.transaction { try seal(value, key, in: &$0) }
  }

  private func seal(_ value: some PreferenceConvertible, _ key: String, in batch: inout Vault.Transaction) throws {
    let edit = try RecordEdit(label: label, comment: comment, attributes: attributes)
    try batch.set(value, forKey: key, accessibility: accessibility, edit: edit)
  }

  /// Returns the string under `key`, or `nil` if it is absent.
  /// - Throws: as ``getString(_:)``.
  public func get(_ key: String) throws(VaultError) -> String? { try getString(key) }

  /// Returns the string under `key`, or data as the string that it encodes; `nil` if it is absent.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the value is neither a string nor UTF-8 data, and the errors of
  ///   ``SecretPreferences/value(forKey:)``.
  public func getString(_ key: String) throws(VaultError) -> String? {
    guard let data = try getData(key) else { return nil }
    guard let string = String(validating: data, as: UTF8.self) else { throw SecretCoding.mismatch }
    return string
  }

  /// Returns the data under `key`, or the UTF-8 bytes of a string; `nil` if it is absent.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the value is neither a string nor data, and the errors of
  ///   ``SecretPreferences/value(forKey:)``.
  public func getData(_ key: String) throws(VaultError) -> Data? {
    try secrets.withBytes(forKey: key) { $0.withUnsafeBytes { Data($0) } }
  }

  /// Returns the result of `handler`, which receives the metadata of `key`, or `nil` if it is absent.
  public func get<R>(_ key: String, handler: (SecretInfo?) -> R) throws(VaultError) -> R {
    handler(try secrets.info(forKey: key))
  }

  /// Whether there is a value under `key`.
  public func contains(_ key: String) throws(VaultError) -> Bool { try secrets.info(forKey: key) != nil }

  /// Removes the value under `key`; if it is absent, no error is thrown.
  public func remove(_ key: String) throws { try secrets.transaction { batch in try batch.remove(key) } }

  /// The asynchronous form of `remove(_:)`; never blocks a cooperative thread.
  public func remove(_ key: String) async throws { try await secrets.transaction { batch in try batch.remove(key) } }

  /// Removes all values of the service in the access group.
  public func removeAll() throws { try secrets.removeAll() }

  /// The asynchronous form of `removeAll()`; never blocks a cooperative thread.
  public func removeAll() async throws { try await secrets.removeAll() }

  /// The keys, ordered by their bytes; empty after a failure.
  public func allKeys() -> [String] { reporting("*") { try secrets.keys() } ?? [] }

  /// The service, access group, class, key and value of each item; empty after a failure. A value is a ``Secret``, so
  /// that an item can be printed; an item whose value cannot be opened has none.
  public func allItems() -> [[String: any Sendable]] {
    reporting("*") {
      let secrets = try secrets.snapshot()
      return try secrets.keys().compactMap { key -> [String: any Sendable]? in
        guard let info = try secrets.info(forKey: key) else { return nil }
        var item: [String: any Sendable] = [
          "service": service, "accessGroup": accessGroup, "key": key, "accessibility": info.accessibility.name,
        ]
        switch info.kind {
        case .string: item["value"] = reporting(key) { try secrets.secret(String.self, forKey: key) } ?? nil
        case .data: item["value"] = reporting(key) { try secrets.secret(Data.self, forKey: key) } ?? nil
        default: break
        }
        return item
      }
    } ?? []
  }

  // MARK: Subscripts

  /// The string under `key`; `nil` if it is absent, and after a failure. Setting `nil` removes the value. A change in
  /// place, such as `keychain["note"]? += "!"`, writes nothing if the value cannot be read.
  public subscript(key: String) -> String? {
    get { self[string: key] }
    @available(*, noasync, message: "a subscript blocks: await a method such as set(_:key:)")
    nonmutating set { self[string: key] = newValue }
    nonmutating _modify { yield &self[string: key] }
  }

  /// The string under `key`, as `subscript(_:)`.
  public subscript(string key: String) -> String? {
    get { reporting(key) { try getString(key) } ?? nil }
    @available(*, noasync, message: "a subscript blocks: await a method such as set(_:key:)")
    nonmutating set { reporting(key) { try newValue.map { try set($0, key: key) } ?? remove(key) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key, in: secrets.name, or: nil) { try getString(key) }
      defer { change.finish { self[string: key] = $0 } }
      yield &change.value
    }
  }

  /// The data under `key`; `nil` if it is absent, and after a failure. Setting `nil` removes the value. A change in
  /// place writes nothing if the value cannot be read.
  public subscript(data key: String) -> Data? {
    get { reporting(key) { try getData(key) } ?? nil }
    @available(*, noasync, message: "a subscript blocks: await a method such as set(_:key:)")
    nonmutating set { reporting(key) { try newValue.map { try set($0, key: key) } ?? remove(key) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key, in: secrets.name, or: nil) { try getData(key) }
      defer { change.finish { self[data: key] = $0 } }
      yield &change.value
    }
  }

  /// The metadata of `key`; `nil` if it is absent, and after a failure.
  public subscript(attributes key: String) -> SecretInfo? { reporting(key) { try secrets.info(forKey: key) } ?? nil }

  @discardableResult
  private func reporting<R>(_ key: String, _ body: () throws -> R) -> R? {
    do { return try body() } catch {
      PreferenceFailures.report(error, key: key, reader: secrets.name)
      return nil
    }
  }
}

extension SecretInfo {
  /// ``created``, for code that used KeychainAccess.
  public var creationDate: Date { created }
  /// ``modified``, for code that used KeychainAccess.
  public var modificationDate: Date { modified }
}

extension Keychain: CustomStringConvertible, CustomReflectable {
  /// The name of the store. No key and no value.
  public var description: String { secrets.description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
