internal import DurableFiles
internal import VaultSealing

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

extension AuditLog {
  /// Opens the current file and returns its length and header as of one moment, and the handed-over files.
  func forReading(_ keys: AuditKeys, _ sealer: Sealer) throws(VaultError) -> AuditReading {
    try concerningLog { () throws(VaultError) in
      while true {
        let file: OpenFile
        switch try files.opened(files.current) {
        case .file(let found): file = found
        case .absent: return AuditReading(handedOver: try files.handedOver())
        case .refused(let error): return AuditReading(refusal: error, handedOver: try files.handedOver())
        }
        try file.descriptor.acquireLock(until: Deadline(after: options.lockTimeout))
        defer { file.descriptor.unlock() }
        guard try files.current.identity()?.identity == file.identity else { continue }
        let image = try FileImage(file.descriptor, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
        let size = try examinedSize(file.descriptor, image, keys, sealer)
        return AuditReading(
          current: .init(file: file, size: size, header: image.span.copy), refusal: nil,
          handedOver: try files.handedOver())
      }
    }
  }

  /// The length of the locked file without its reserve, into which other processes append once the lock is released:
  /// the header that was read does not count their events.
  private func examinedSize(
    _ file: Descriptor, _ image: FileImage, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Int {
    let size = Int(try file.status().st_size)
    guard case .success(let header) = try AuditHeader.open(image.span, keys, sealer), size <= AuditHeader.fileBytes,
      header.end <= size
    else { return size }
    var end = header.end
    loop: while true {
      switch try AuditFrame.find(file, at: end, before: size, keys, sealer) {
      case .event(let frame): end += frame.count
      case .closed(let head, _): end += head.count
      case .nothing: break loop
      }
    }
    return try file.isZero(end..<size) ? end : size
  }
}
