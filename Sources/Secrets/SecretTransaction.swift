public import FoundationEssentials
public import Preferences
public import VaultCore

extension Vault.Transaction {
  /// Seals `value` and adds it to the transaction. Otherwise the same as the form that takes bytes.
  public mutating func set(
    _ value: PreferenceValue, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try SecretCoding.withEncoded(value) { (kind, body) throws(VaultError) in
      try set(body, kind: kind, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
    }
  }

  /// Seals `value` and adds it to the transaction. Otherwise the same as the form that takes bytes.
  public mutating func set(
    _ value: some PreferenceConvertible, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try set(value.preferenceValue, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
  }

  /// Seals a secret and adds it to the transaction. Otherwise the same as the form that takes bytes.
  public mutating func set<Value>(
    _ secret: Secret<Value>, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try set(secret.content, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
  }

  mutating func set(
    _ content: GuardedContent, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64?
  ) throws(VaultError) {
    try content.withBytes { (kind, body) throws(VaultError) in
      try set(body, kind: kind, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
    }
  }
}

extension RecordEdit {
  /// Sets the fields that are given; `nil` keeps a field as it is, but a new value removes an expiry that is not given.
  /// Assign `.remove` to a field to remove it.
  ///
  /// - Parameter attributes: replaces all attributes.
  /// - Throws: ``VaultError/Code/invalidName`` for the name of an attribute; ``VaultError/Code/typeMismatch`` for an
  ///   expiry that is NaN. Any other date out of range counts as the earliest or the latest.
  public init(
    expires: Date? = nil, label: String? = nil, comment: String? = nil, attributes: [String: Data]? = nil
  ) throws(VaultError) {
    self.init()
    if let expires {
      guard !expires.timeIntervalSince1970.isNaN else { throw VaultError(.typeMismatch, "an expiry that is no date") }
      expiry = .set(expires.milliseconds)
    }
    if let label { self.label = .set(label) }
    if let comment { self.comment = .set(comment) }
    guard let attributes else { return }
    var list: [Attribute] = []
    for (name, data) in attributes.sorted(by: { $0.key < $1.key }) { list.append(try Attribute(name, Array(data))) }
    self.attributes = .set(list)
  }
}

extension SecretPreferences {
  /// Sets, removes and edits secrets in one transaction: when the method returns, all changes are durable or nothing
  /// has changed.
  ///
  /// ```swift
  /// try await tokens.transaction { transaction in
  ///   try transaction.set("ghp_…", forKey: "github", edit: RecordEdit(expires: nextMonth, label: "CI"))
  ///   try transaction.set(signingKey, forKey: "signing", ifRevision: 7)
  ///   try transaction.remove("gitlab")
  /// }
  /// ```
  ///
  /// A change with a revision is made only if the secret has that ``SecretInfo/revision``, and with 0 only if there is
  /// no such secret.
  ///
  /// - Parameter body: fills the transaction. Called once.
  /// - Returns: how many removals found their secret.
  /// - Throws: the error of `body`; ``VaultError/Code/conflict`` if a secret does not have the revision of
  ///   `ifRevision`; ``VaultError/Code/notFound`` if an edited secret does not exist; the errors of `apply(_:)`.
  @discardableResult
  public func transaction(_ body: (inout Vault.Transaction) throws -> Void) throws -> Int {
    let changes = try vault.sealedChanges(
      service: serviceName, in: group, accessibility: accessibility, keeping: keeping, body)
    return try vault.commit(changes.get(), in: group).removedCount
  }

  /// The asynchronous form of `transaction(_:)`; never blocks a cooperative thread.
  @discardableResult
  public func transaction(_ body: (inout Vault.Transaction) throws -> Void) async throws -> Int {
    let changes = try vault.sealedChanges(
      service: serviceName, in: group, accessibility: accessibility, keeping: keeping, body)
    return try await vault.commit(changes.get(), in: group).removedCount
  }

  /// Seals `value` and its metadata in one write.
  ///
  /// - Parameters:
  ///   - expires: when the value should no longer be used; `nil` for no expiry. The expiry of an earlier value is not
  ///     kept.
  ///   - label: the label; `nil` keeps the present one, as for `comment` and `attributes`.
  ///   - attributes: the attributes, which replace all earlier ones.
  /// - Throws: the errors of `apply(_:)`; ``VaultError/Code/invalidName`` for the name of an attribute.
  public func set(
    _ value: some PreferenceConvertible, forKey key: String, expires: Date?, label: String? = nil,
    comment: String? = nil, attributes: [String: Data]? = nil
  ) throws {
    let edit = try RecordEdit(expires: expires, label: label, comment: comment, attributes: attributes)
    try transaction { transaction in try transaction.set(value, forKey: key, edit: edit) }
  }

  /// The asynchronous form of `set(_:forKey:expires:label:comment:attributes:)`; never blocks a cooperative thread.
  public func set(
    _ value: some PreferenceConvertible, forKey key: String, expires: Date?, label: String? = nil,
    comment: String? = nil, attributes: [String: Data]? = nil
  ) async throws {
    let edit = try RecordEdit(expires: expires, label: label, comment: comment, attributes: attributes)
    try await transaction { transaction in try transaction.set(value, forKey: key, edit: edit) }
  }

  /// Seals a secret and its metadata in one write, as the form that takes a value.
  public func set<Value>(
    _ secret: Secret<Value>, forKey key: String, expires: Date?, label: String? = nil, comment: String? = nil,
    attributes: [String: Data]? = nil
  ) throws {
    let edit = try RecordEdit(expires: expires, label: label, comment: comment, attributes: attributes)
    try transaction { transaction in try transaction.set(secret, forKey: key, edit: edit) }
  }

  /// The asynchronous form of `set(_:forKey:expires:label:comment:attributes:)`; never blocks a cooperative thread.
  public func set<Value>(
    _ secret: Secret<Value>, forKey key: String, expires: Date?, label: String? = nil, comment: String? = nil,
    attributes: [String: Data]? = nil
  ) async throws {
    let edit = try RecordEdit(expires: expires, label: label, comment: comment, attributes: attributes)
    try await transaction { transaction in try transaction.set(secret, forKey: key, edit: edit) }
  }
}
