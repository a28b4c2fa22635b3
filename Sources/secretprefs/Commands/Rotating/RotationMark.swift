internal import VaultCore

/// What a record keeps while a rotation of its value is not confirmed: an attribute, which every program keeps.
struct RotationMark {
  static let attribute = "rotation"

  /// The revision of the old value.
  let revision: UInt64
  /// The number of earlier values that the record kept before, and keeps again afterwards.
  let depth: UInt16
  /// The expiry that the record had before, in milliseconds since 1970, and has again if the old value is current
  /// again.
  let expiry: Int64?

  init(revision: UInt64, depth: UInt16, expiry: Int64?) {
    self.revision = revision
    self.depth = depth
    self.expiry = expiry
  }

  /// The mark of a record; `nil` if it has none.
  ///
  /// - Throws: ``VaultError/Code/conflict`` for an attribute of this name that no rotation made.
  init?(of record: RecordInfo) throws {
    guard record.attributes.contains(where: { $0.name.text == Self.attribute }) else { return nil }
    guard let mark = RotationMark(pendingIn: record) else { throw Self.foreign }
    self = mark
  }

  /// The mark of a record; `nil` if no rotation made one.
  init?(pendingIn record: RecordInfo) {
    let found = record.attributes.filter { $0.name.text == Self.attribute }
    guard found.count == 1, let text = found[0].text else { return nil }
    self.init(text)
  }

  /// The mark that an attribute's text says; `nil` if no rotation made it.
  init?(_ text: String) {
    let words = text.split { $0 == " " || $0 == "," }
    let numbers = words.compactMap { UInt64($0) }
    guard numbers.count == 2, let depth = UInt16(exactly: numbers[1]) else { return nil }
    self.init(
      revision: numbers[0], depth: depth, expiry: words.last.flatMap { Timestamp(String($0)) }?.milliseconds)
    guard self.text == text else { return nil }
  }

  /// Whether a rotation of the record is not confirmed. An attribute of a user that has the same name is no mark.
  static func isPending(in record: RecordInfo) -> Bool { RotationMark(pendingIn: record) != nil }

  /// Refuses a record of which a rotation is pending, for what would drop its old value or not take it along.
  ///
  /// - Throws: ``VaultError/Code/conflict``.
  static func refuse(_ record: RecordInfo?) throws(VaultError) {
    guard let record, isPending(in: record) else { return }
    throw VaultError(
      .conflict, "a rotation of the key is not confirmed, and its old value would be lost", cause: cure)
  }

  /// The same for the records of several keys. The error names those of which a rotation is pending.
  static func refuse(_ records: [ListedRecord]) throws(VaultError) {
    let pending = records.filter { isPending(in: $0.info) }.map(\.reference.text).sorted()
    guard !pending.isEmpty else { return }
    let what = counted(pending.count, "rotation is", "rotations are")
    throw VaultError(
      .conflict, "\(what) not confirmed, and an old value would be lost: \(listed(pending))", cause: cure)
  }

  private static let cure = Cure(
    hint: "\"secretprefs rotate-value --confirm\" keeps the new value, and --revert the old one")

  /// Readable text, because `info` shows it.
  var text: String {
    "from revision \(revision), history \(depth)"
      + (expiry.flatMap { Timestamp(milliseconds: $0) }.map { ", expires \($0.text)" } ?? "")
  }

  private static let foreign = ToolError(
    VaultError(.conflict, "the attribute \"\(attribute)\" of the key was not made by a rotation"),
    hint: "\"secretprefs edit --no-attribute \(attribute)\" removes it")

  /// The attributes of a record with this mark, or without any.
  static func attributes(of record: RecordInfo, _ mark: RotationMark?) throws(VaultError) -> [RecordEdit.Attribute] {
    try record.attributes.replacing(attribute, with: mark.map { Array($0.text.utf8) })
  }
}
