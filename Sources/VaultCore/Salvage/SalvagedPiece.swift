internal import VaultSealing

/// Bytes that look like a record, in a section that was decrypted without checking its tag. Nothing is authenticated
/// until the value opens, and then only value, service, key, kind and class.
struct SalvagedPiece {
  private let service: UnsafeRawBufferPointer
  private let key: UnsafeRawBufferPointer
  let kind: UInt8
  let accessibility: Vault.Accessibility
  let sealed: UnsafeRawBufferPointer
  private let created: Int64
  private let modified: Int64
  private let revision: UInt64
  /// Empty if the field does not parse.
  private let extensionField: UnsafeRawBufferPointer
  /// The number of bytes in the section.
  let count: Int

  /// `nil` if no record can begin here.
  /// - Parameter highestRevision: the maximum, to which an implausible revision is lowered.
  init?(_ bytes: UnsafeRawBufferPointer, highestRevision: UInt64, limits: Vault.Limits) {
    var reader = ByteReader(bytes)
    do throws(VaultError) {
      (service, key) = (try reader.name(), try reader.name())
      kind = try reader.integer()
      guard let accessibility = Vault.Accessibility(rawValue: try reader.integer()), kind != 0,
        try reader.integer(UInt16.self) == 0
      else { return nil }
      self.accessibility = accessibility
      created = try reader.integer()
      modified = try reader.integer()
      revision = min(max(try reader.integer(), 1), highestRevision)
      sealed = try reader.lp32()
      guard sealed.count >= accessibility.sealOverhead, sealed.count <= Record.sealedLimit(accessibility, limits)
      else { return nil }
    } catch { return nil }
    let end = reader.position
    if let field = Self.extensionField(&reader, revision: revision) {
      (extensionField, count) = (field, reader.position - bytes.baseAddress!)
    } else {
      (extensionField, count) = (UnsafeRawBufferPointer(start: nil, count: 0), end - bytes.baseAddress!)
    }
  }

  private static func extensionField(_ reader: inout ByteReader, revision: UInt64) -> UnsafeRawBufferPointer? {
    do throws(VaultError) {
      let field = try reader.lp32()
      try Extension.checkRecord(field, revision: revision)
      return field
    } catch { return nil }
  }

  var name: RecordName {
    @_lifetime(borrow self)
    get {
      let (service, key) = (service, key)
      return unsafe _overrideLifetime(RecordName(service: service.bytes, key: key.bytes), borrowing: self)
    }
  }

  /// The length of the record that ``write(to:)`` writes.
  var recordCount: Int {
    12 + service.count + key.count + Record.fixedCount + sealed.count + extensionField.count
  }

  /// Writes it as a record.
  func write(to out: UnsafeMutableRawBufferPointer) {
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(recordCount)
    writer.lp16(service)
    writer.lp16(key)
    writer.integer(kind)
    writer.integer(accessibility.rawValue)
    writer.integer(UInt16(0))
    writer.integer(created)
    writer.integer(modified)
    writer.integer(revision)
    writer.lp32(sealed)
    writer.lp32(extensionField)
    out.copyBytes(from: writer.bytes)
    writer.bytes.wipe()
  }

  /// The marks of a record whose group was not verified, and of one whose group may also be in an older state.
  static let unverified = attribute("unverified")
  static let perhapsOld = attribute("unverified, perhaps old")

  static let attributeName = {
    var writer = ByteWriter()
    writer.lp16(Array(SalvageReport.attribute.utf8))
    return writer.bytes
  }()

  private static func attribute(_ text: String) -> Extension.OwnedItem {
    Extension.OwnedItem(Extension.RecordTag.attribute, attributeName + Array(text.utf8))
  }
}
