public import FoundationEssentials
public import VaultCore

/// The metadata of a secret, which is sealed with it and read without opening its value.
public struct SecretInfo: Sendable, Hashable {
  /// The key of the secret.
  public let key: String
  /// The kind of its value.
  public let kind: ValueKind
  /// When its value can be read.
  public let accessibility: Vault.Accessibility
  /// Increases with each change of the secret. Pass it as `ifRevision` in ``SecretPreferences/transaction(_:)``.
  public let revision: UInt64
  /// When the secret was first set, by the clock of the writer.
  public let created: Date
  /// When the secret or its metadata was last changed, by the clock of the writer.
  public let modified: Date
  /// When the value should no longer be used; `nil` for no expiry.
  public let expires: Date?
  /// Whether ``expires`` had passed when the metadata was read, by ``Vault/Options/now``.
  public let isExpired: Bool
  /// The label; `nil` if there is none.
  public let label: String?
  /// The comment; `nil` if there is none.
  public let comment: String?
  /// The attributes that the application has set, without the lease of a ``RefreshingToken``. If several have the same
  /// name, only the first; ``RecordInfo`` has all.
  public let attributes: [String: Data]

  init(_ record: RecordInfo, now: Int64) {
    key = record.key.text
    kind = record.kind
    accessibility = record.accessibility
    revision = record.revision
    created = Date(milliseconds: record.created)
    modified = Date(milliseconds: record.modified)
    expires = record.expiry.map(Date.init(milliseconds:))
    isExpired = record.expiry.map { $0 <= now } ?? false
    label = record.label
    comment = record.comment
    attributes = Dictionary(record.ownAttributes.map { ($0.name.text, Data($0.data)) }) { first, _ in first }
  }
}

extension RecordInfo {
  /// The attributes that the application has set, without the lease of a ``RefreshingToken``.
  var ownAttributes: [RecordEdit.Attribute] { attributes.filter { $0.name.text != RefreshMark.attribute } }
}

/// Prints as its revision: names, labels and comments may be confidential.
extension SecretInfo: CustomStringConvertible, CustomReflectable {
  public var description: String { "revision \(revision)" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SecretPreferences {
  /// Returns the metadata of the secret under `key`, or `nil` if it is absent. Does not open the value.
  /// - Throws: the errors of ``value(forKey:)``, except those of opening the value.
  public func info(forKey key: String) throws(VaultError) -> SecretInfo? {
    let now = vault.options.now()
    return try vault.record(service: serviceName, key: key, in: group).map { SecretInfo($0, now: now) }
  }
}
