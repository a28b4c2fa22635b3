internal import VaultSealing

/// Bytes that look like a record, in a section that was decrypted without checking its tag. Nothing is authenticated
/// until the value opens, and then only value, service, key, kind and class.
struct SalvagedPiece: ~Escapable {
  private let service: RawSpan
  private let key: RawSpan
  let kind: UInt8
  let accessibility: Vault.Accessibility
  let sealed: RawSpan
  private let created: Int64
  private let modified: Int64
  private let revision: UInt64
  /// Empty if the field does not parse.
  private let extensionField: RawSpan
  /// The number of bytes in the section.
  let count: Int

  /// `nil` if no record can begin here.
  ///
  /// - Parameters:
  ///   - highestRevision: the maximum, to which an implausible revision is lowered.
  ///   - budget: the bytes that may still be examined; what is examined is subtracted, also if there is no record.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan, highestRevision: UInt64, budget: inout Int, limits: Vault.Limits) {
    var reader = ByteReader(bytes)
    do throws(VaultError) {
      service = try reader.name()
      key = try reader.name()
      kind = try reader.integer()
      guard let accessibility = Vault.Accessibility(rawValue: try reader.integer()), kind != 0,
        try reader.integer(UInt16.self) == 0
      else { return nil }
      self.accessibility = accessibility
      created = try reader.integer()
      modified = try reader.integer()
      revision = min(max(try reader.integer(), 1), highestRevision)
      sealed = try reader.lp32()
      // A removed record has no device layer.
      guard sealed.byteCount >= accessibility.sealOverhead || sealed.byteCount == Sealer.overhead,
        sealed.byteCount <= Record.sealedLimit(accessibility, limits)
      else { return nil }
    } catch { return nil }
    let end = reader.position
    var isRemoved = false
    do throws(VaultError) {
      let field = try reader.lp32()
      isRemoved = try Extension.checkRecord(field, revision: revision)
      extensionField = field
      count = reader.position
    } catch {
      extensionField = bytes.extracting(0..<0)
      count = end
    }
    budget -= reader.position
    guard
      isRemoved
        ? kind == ValueKind.data.rawValue && sealed.byteCount == Sealer.overhead
        : sealed.byteCount >= accessibility.sealOverhead
    else { return nil }
  }

  var name: RecordName {
    @_lifetime(copy self)
    get { RecordName(service: service, key: key) }
  }

  private var recordCount: Int {
    12 + service.byteCount + key.byteCount + Record.fixedCount + sealed.byteCount + extensionField.byteCount
  }

  /// The bytes of the piece as a record.
  func record() -> WipedBuffer {
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
    defer { writer.bytes.wipe() }
    return WipedBuffer(copying: writer.bytes.bytes)
  }

  /// The attributes of a record whose group was not verified, and of a record whose group may also be in an older
  /// state.
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
