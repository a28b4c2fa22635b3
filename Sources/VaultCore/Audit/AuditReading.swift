/// What a verification reads of a log.
struct AuditReading {
  struct Current {
    let file: OpenFile
    let size: Int
    let header: [UInt8]
  }

  /// `nil` if there is no current file that can be read.
  var current: Current?
  /// Why the current file cannot be read.
  var refusal: VaultError?
  let handedOver: [AuditFiles.Numbered]
}
