internal import VaultCore

/// A change of a record's metadata, parsed before the vault is opened.
struct MetadataChange {
  private var edit = RecordEdit()
  private let revision: UInt64?
  private let attributes: [RecordEdit.Attribute]
  /// The names of the attributes that change or are removed.
  private let replaced: Set<Vault.Name>
  private var changesDepth: Bool { if case .set = edit.historyDepth { true } else { false } }

  /// - Parameter now: The current time in milliseconds since 1970-01-01 UTC.
  init(_ options: MetadataOptions, now: Int64, _ messages: Messages) throws {
    revision = options.ifRevision
    guard !options.notSecret || !options.isSecret else {
      throw ToolError.usage("--not-secret and --is-secret contradict each other")
    }
    let given = try options.attributes.map(Self.attribute)
    let isMark = { (attribute: RecordEdit.Attribute) in
      attribute.name.text == RotationMark.attribute && attribute.text.flatMap { RotationMark($0) } != nil
    }
    guard !given.contains(where: isMark) else {
      throw ToolError.usage("only \"secretprefs rotate-value\" sets this text of the attribute \"rotation\"")
    }
    attributes = try given + (options.notSecret ? SecretMark.none([]) : [])
    let removed = options.noAttributes + (options.isSecret ? [SecretMark.attribute] : [])
    let names = attributes.map(\.name) + (try removed.map { (name) throws(VaultError) in try Vault.Name(name) })
    replaced = Set(names)
    guard replaced.count == names.count else { throw ToolError.usage("an attribute is named twice") }
    edit.label = try Self.field(options.label, isRemoved: options.noLabel, "label")
    edit.comment = try Self.field(options.comment, isRemoved: options.noComment, "comment")
    let expiry = try options.expiry.map { (text) throws(ToolError) in try Expiry(text, now: now).milliseconds }
    if let expiry, expiry <= now { messages.warn("the expiry has passed already, so the value counts as expired") }
    edit.expiry = try Self.field(expiry, isRemoved: options.noExpiry, "expiry")
    if let depth = options.history { edit.historyDepth = .set(depth) }
  }

  /// Returns the edit and the revision that the record must have, or `nil` for any revision.
  ///
  /// - Parameter record: Returns the current record, or `nil` if there is none.
  func resolved(
    _ record: () throws(VaultError) -> RecordInfo?
  ) throws(VaultError) -> (edit: RecordEdit, revision: UInt64?) {
    guard !replaced.isEmpty || changesDepth else { return (edit, revision) }
    let record = try record()
    let endsRotation = replaced.contains { $0.text == RotationMark.attribute }
    if changesDepth || endsRotation && record.flatMap(RotationMark.init(pendingIn:)) != nil {
      try RotationMark.refuse(record)
    }
    guard !replaced.isEmpty else { return (edit, revision) }
    // An edit replaces all attributes. The revision makes it fail if another process changed them in between.
    let found = record?.revision ?? 0
    guard revision == nil || revision == found else {
      throw VaultError(.conflict, "the record does not have the expected revision")
    }
    var edit = edit
    edit.attributes = .set((record?.attributes ?? []).filter { !replaced.contains($0.name) } + attributes)
    return (edit, found)
  }

  private static func field<Value>(
    _ value: Value?, isRemoved: Bool, _ name: StaticString
  ) throws(ToolError) -> RecordEdit.Field<Value> {
    guard let value else { return isRemoved ? .remove : .keep }
    guard !isRemoved else { throw .usage("--\(name) and --no-\(name) contradict each other") }
    return .set(value)
  }

  private static func attribute(_ text: String) throws -> RecordEdit.Attribute {
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw ToolError.usage("an attribute must have the form name=text")
    }
    return try RecordEdit.Attribute(String(text[..<sign]), Array(text.utf8[text.utf8.index(after: sign)...]))
  }
}
