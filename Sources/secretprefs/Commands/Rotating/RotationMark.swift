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
    let found = record.attributes.filter { $0.name.text == Self.attribute }
    guard !found.isEmpty else { return nil }
    let words = found[0].text?.split { $0 == " " || $0 == "," } ?? []
    let numbers = words.compactMap { UInt64($0) }
    guard found.count == 1, numbers.count == 2, let depth = UInt16(exactly: numbers[1]) else { throw Self.foreign }
    self.init(
      revision: numbers[0], depth: depth, expiry: words.last.flatMap { Timestamp(String($0)) }?.milliseconds)
    guard found[0].text == text else { throw Self.foreign }
  }

  /// Whether a record has a mark, by whatever program.
  static func isPending(in record: RecordInfo) -> Bool { record.attributes.contains { $0.name.text == attribute } }

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
