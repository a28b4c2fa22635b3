import Glibc
import Synchronization
@testable import VaultCore
@testable import VaultSealing

/// A file that changes under an open handle: other writers append to it, and it grows, shrinks, is written over, gets a
/// tail of up to 4 TiB that takes no room on the disk, and is put back.
///
/// Each step is a byte that says what happens and two bytes that say where. After each the handle is read.
final class CatchUpTarget: FuzzTarget {
  private static let fileBytes = 1 << 16
  /// The errors that a read, a write or a load may have for a file that was changed without its keys.
  private static let refusals: Set<VaultError.Code> = [
    .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed, .limitExceeded, .kdfRefused, .damaged, .tampered,
    .credentialRejected,
  ]

  private let directory: String
  private let file: Int32
  private let original: [UInt8]
  private let credential: Vault.Credential
  private let group: AccessGroup
  private let service: Vault.Name

  private var path: String { directory + "/vault.spv" }

  init() throws {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array("\(folder)/secretprefs-fuzz-XXXXXX".utf8CString)
    directory = mkdtemp(&name).map { String(cString: $0) } ?? "/nonexistent"
    credential = .key(try SealingKey(from: .repeating))
    // The first value is in the snapshot, so that a shorter journal still has one.
    let first = NewGroup(service: "db") { batch throws(VaultError) in try Self.set(0, &batch) }
    let vault = try Vault.create(
      at: directory + "/vault.spv", slots: [NewSlot(credential)], groups: [first], options: Self.options)
    (group, service) = (try vault.group(), try Vault.Name("db"))
    for number in 1..<3 { try Self.set(number, vault, service, group) }
    file = open(directory + "/vault.spv", O_RDWR | O_CLOEXEC)
    original = Self.bytes(of: file)
  }

  deinit {
    close(file)
    removeSavedEntries()
    unlink(path)
    rmdir(directory)
  }

  func check(_ input: UnsafeRawBufferPointer) throws {
    putBack()
    let (handle, other) = (try opened(), try opened())
    var last = 3
    for step in stride(from: 0, to: min(input.count - 2, 8 * 3), by: 3) {
      let place = Int(input[step + 1]) | Int(input[step + 2]) << 8
      switch input[step] % 8 {
      case 0: ftruncate(file, off_t(size + place))
      case 1: ftruncate(file, off_t(1) << (20 + place % 23))
      case 2: ftruncate(file, off_t(place % (size + 1)))
      case 3: flip(place % max(size, 1), input[step])
      case 4: try flip(tail(of: handle) + place % 64, input[step])
      case 5:
        putBack()
        try demand(try read(handle) == 2, "the file that was put back is not read")
      case let who:
        // Only a handle that has seen the file whole knows that what it writes will be read.
        let writer = who == 6 ? handle : other
        let isWhole = try read(opened) != nil
        if try answer({ () throws(VaultError) in try Self.set(last, writer, service, group) }) != nil {
          last += 1
          try demand(try !isWhole || read(writer) == last - 1, "a write that was answered is not read")
        }
      }
      for value in [try read(handle), try read(opened)] {
        try demand(value.map { (0..<last).contains($0) } ?? true, "a value is read that was never written")
      }
    }
  }

  private static var options: Vault.Options {
    var options = Vault.Options()
    options.random = .repeating
    options.reserveBytes = 512
    options.limits.fileBytes = fileBytes
    options.pauseBeforeRereading = .zero
    return options
  }

  private func opened() throws(VaultError) -> Vault {
    try Vault.open(at: path, credential: credential, options: Self.options)
  }

  /// The number that is stored; nil when the file is refused.
  private func read(_ vault: Vault) throws -> Int? { try read { vault } }

  private func read(_ vault: () throws(VaultError) -> Vault) throws -> Int? {
    let text = try answer { () throws(VaultError) in
      try vault().withValue(service: service, key: "key", in: group) { _, bytes in
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
    }
    guard let text else { return nil }
    return try text.map { Int($0) ?? -1 } ?? { throw Violation(description: "the record is gone") }()
  }

  private func answer<R>(_ body: () throws(VaultError) -> R) throws -> R? {
    do throws(VaultError) { return try body() } catch {
      try demand(Self.refusals.contains(error.code), "refused as \(error)")
      return nil
    }
  }

  private static func set(
    _ number: Int, _ vault: Vault, _ service: Vault.Name, _ group: AccessGroup
  ) throws(VaultError) {
    try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in try set(number, &batch) }
  }

  private static func set(_ number: Int, _ batch: inout Vault.Transaction) throws(VaultError) {
    let text = Array("\(number)".utf8)
    try batch.set(text.span.bytes, kind: .string, forKey: "key")
  }

  // MARK: The file

  private var size: Int {
    var status = stat()
    fstat(file, &status)
    return Int(status.st_size)
  }

  private func tail(of vault: Vault) throws -> Int { try vault.handle.loaded.withLock { try $0.state.tail } }

  private func flip(_ place: Int, _ bits: UInt8) {
    var byte: UInt8 = 0
    pread(file, &byte, 1, off_t(place))
    byte ^= bits | 1
    pwrite(file, &byte, 1, off_t(place))
  }

  private func putBack() {
    removeSavedEntries()
    ftruncate(file, off_t(original.count))
    _ = original.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
  }

  /// Removes the broken entries that writes have saved beside the file: a write is refused when there are a hundred.
  private func removeSavedEntries() {
    unlink(path + ".torn")
    var number = 2
    while unlink("\(path).torn.\(number)") == 0 { number += 1 }
  }

  private static func bytes(of file: Int32) -> [UInt8] {
    var status = stat()
    fstat(file, &status)
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
  }
}
