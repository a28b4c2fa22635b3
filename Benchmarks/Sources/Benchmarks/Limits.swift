import CLimits
import Glibc

/// What the format itself requires for one get, called back to back with reused buffers and nothing else
/// (`Docs/Format.md` 2.2): derive the subkeys, recompute the tag, open the box.
struct OpenLimit {
  private let key: [UInt8]
  private let transcript: [UInt8]
  private let sealed: [UInt8]
  private var subkeys = [UInt8](repeating: 0, count: 64)
  private var tag = [UInt8](repeating: 0, count: 32)
  private var out: [UInt8]

  init(service: String, key name: String, valueBytes: Int) {
    key = (0..<32).map { UInt8($0) }
    var transcript: [UInt8] = []
    for item in [Array("SPV1/seal".utf8), Array("value".utf8), Array(service.utf8), Array(name.utf8), [1]] {
      withUnsafeBytes(of: UInt64(item.count).littleEndian) { transcript += Array($0) }
      transcript += item
    }
    self.transcript = transcript
    var ke = [UInt8](repeating: 0, count: 64)
    crypto_generichash(&ke, 64, transcript, UInt64(transcript.count), key, 32)
    var sealed = [UInt8](repeating: 7, count: 24 + 32 + 16 + valueBytes)
    let message = [UInt8](repeating: 0x61, count: valueBytes)
    sealed.withUnsafeMutableBufferPointer { sealed in
      _ = crypto_secretbox_easy(
        sealed.baseAddress! + 56, message, UInt64(valueBytes), sealed.baseAddress!, ke)
    }
    self.sealed = sealed
    out = [UInt8](repeating: 0, count: valueBytes)
  }

  mutating func call() {
    crypto_generichash(&subkeys, 64, transcript, UInt64(transcript.count), key, 32)
    // Nonce and box stand apart in the file, so their hash takes two updates.
    withUnsafeTemporaryAllocation(byteCount: 384, alignment: 64) { state in
      let state = OpaquePointer(state.baseAddress!)
      sealed.withUnsafeBufferPointer { sealed in
        subkeys.withUnsafeBufferPointer { subkeys in
          crypto_generichash_init(state, subkeys.baseAddress! + 32, 32, 32)
          crypto_generichash_update(state, sealed.baseAddress!, 24)
          crypto_generichash_update(state, sealed.baseAddress! + 56, UInt64(sealed.count - 56))
        }
      }
      crypto_generichash_final(state, &tag, 32)
    }
    sealed.withUnsafeBufferPointer { sealed in
      _ = crypto_verify_32(tag, sealed.baseAddress! + 24)
      guard
        crypto_secretbox_open_easy(
          &out, sealed.baseAddress! + 56, UInt64(sealed.count - 56), sealed.baseAddress!, subkeys) == 0
      else { preconditionFailure("the limit measures a failure") }
    }
  }
}

/// The two system calls that the format asks for before each read (4.2): does the path still name the file, and
/// does something stand behind the tail?
struct FreshnessLimit {
  let path: [CChar]
  let descriptor: Int32
  let offset: Int

  init(_ path: String) {
    self.path = Array(path.utf8CString)
    descriptor = open(path, O_RDONLY)
    offset = Int(lseek(descriptor, 0, SEEK_END)) - 40
  }

  func call() {
    var status = stat()
    lstat(path, &status)
    withUnsafeTemporaryAllocation(byteCount: 40, alignment: 8) {
      _ = pread(descriptor, $0.baseAddress!, 40, off_t(offset))
    }
  }
}

/// Overwriting bytes that exist and waiting for the disk: the least any durable write costs.
struct OverwriteLimit {
  private let descriptor: Int32
  private let bytes: [UInt8]
  private var offset: Int
  private static let length = 1 << 20

  init(_ path: String, bytes count: Int, from offset: Int = 0) {
    self.offset = offset
    descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    let zeros = [UInt8](repeating: 0, count: Self.length)
    _ = pwrite(descriptor, zeros, zeros.count, 0)
    fsync(descriptor)
    bytes = [UInt8](repeating: 0x5A, count: count)
  }

  mutating func call() {
    _ = pwrite(descriptor, bytes, bytes.count, off_t(offset))
    fdatasync(descriptor)
    offset = (offset + bytes.count) % (Self.length - bytes.count)
  }

  /// The same while other processes wait for the lock of the file.
  mutating func lockedCall() {
    flock(descriptor, LOCK_EX)
    call()
    flock(descriptor, LOCK_UN)
  }
}

/// The system calls and ciphers that the format requires for one durable write of a value (`Docs/Format.md` 2.2, 5.1),
/// called one after the other with reused buffers: seal the value, lock, look for other writes, seal the entry, write
/// it, wait for the disk, unlock. The waiting leaves the processor's caches cold, as it does for a vault.
struct SetLimit {
  private static let entryBytes = 384
  private static let fileBytes = 1 << 20

  private let path: [CChar]
  private let descriptor: Int32
  private var value = SealLimit.value
  private var entry = SealLimit(contextBytes: 168, bodyBytes: 256)
  private var reserve = [UInt8](repeating: 0, count: 32 << 10)
  private var offset = 0

  init(_ path: String) {
    self.path = Array(path.utf8CString)
    descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    let zeros = [UInt8](repeating: 0, count: Self.fileBytes)
    _ = pwrite(descriptor, zeros, zeros.count, 0)
    fsync(descriptor)
  }

  mutating func call() {
    value.seal()
    flock(descriptor, LOCK_EX | LOCK_NB)
    var status = stat()
    fstat(descriptor, &status)
    lstat(path, &status)
    // The reserve of 32 KiB is half used on average, and looked through for what an interrupted write left.
    _ = pread(descriptor, &reserve, 16 << 10, off_t(offset))
    reserve.withUnsafeBytes { bytes in
      let rest = bytes.baseAddress! + 1
      precondition(bytes[0] == 0 && memcmp(bytes.baseAddress!, rest, (16 << 10) - 1) == 0, "it overwrites an entry")
    }
    entry.seal()
    _ = pwrite(descriptor, entry.sealed, Self.entryBytes, off_t(offset))
    fdatasync(descriptor)
    flock(descriptor, LOCK_UN)
    offset += Self.entryBytes
  }

}

/// SEAL and OPEN of the format's section 2.2, with reused buffers.
struct SealLimit {
  private let key = [UInt8](repeating: 1, count: 32)
  private let context: [UInt8]
  private var body: [UInt8]
  private(set) var sealed: [UInt8]

  /// A value of 64 bytes, with the names of the benchmark.
  static var value: SealLimit { SealLimit(contextBytes: 72, bodyBytes: 64) }

  init(contextBytes: Int, bodyBytes: Int) {
    context = [UInt8](repeating: 2, count: contextBytes)
    body = [UInt8](repeating: 0x61, count: bodyBytes)
    // An entry's header and checksum are written with it.
    sealed = [UInt8](repeating: 0, count: bodyBytes + 256)
  }

  mutating func seal() {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 + 24) { work in
      guard let keys = work.baseAddress else { return }
      let nonce = keys + 64
      crypto_generichash(keys, 64, context, UInt64(context.count), key, 32)
      randombytes_buf(nonce, 24)
      sealed.withUnsafeMutableBufferPointer { sealed in
        guard let sealed = sealed.baseAddress else { return }
        Self.hash(sealed, 24, under: keys + 32, nonce, 24, body, body.count)
        _ = crypto_secretbox_easy(sealed + 56, body, UInt64(body.count), sealed, keys)
        Self.hash(sealed + 24, 32, under: keys + 32, sealed, 24, sealed + 56, body.count + 16)
      }
    }
  }

  mutating func open() {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 + 32) { work in
      guard let keys = work.baseAddress else { return }
      crypto_generichash(keys, 64, context, UInt64(context.count), key, 32)
      sealed.withUnsafeBufferPointer { sealed in
        guard let sealed = sealed.baseAddress else { return }
        Self.hash(keys + 64, 32, under: keys + 32, sealed, 24, sealed + 56, body.count + 16)
        guard crypto_verify_32(keys + 64, sealed + 24) == 0,
          crypto_secretbox_open_easy(&body, sealed + 56, UInt64(body.count + 16), sealed, keys) == 0
        else { preconditionFailure("the limit measures a failure") }
      }
    }
  }

  /// The keyed hash of two parts.
  private static func hash(
    _ result: UnsafeMutablePointer<UInt8>, _ count: Int, under key: UnsafePointer<UInt8>,
    _ first: UnsafePointer<UInt8>, _ firstCount: Int, _ second: UnsafePointer<UInt8>, _ secondCount: Int
  ) {
    withUnsafeTemporaryAllocation(byteCount: 384, alignment: 64) { state in
      let state = OpaquePointer(state.baseAddress!)
      crypto_generichash_init(state, key, 32, count)
      crypto_generichash_update(state, first, UInt64(firstCount))
      crypto_generichash_update(state, second, UInt64(secondCount))
      crypto_generichash_final(state, result, count)
    }
  }
}

/// What a batch of values in an empty vault cannot do without (`Docs/Format.md` 2.2, 3.6, 5.2): seal each value; seal,
/// checksum and open the section that has them; write the file, and replace the old one.
struct BatchLimit {
  private let path: String
  private let folder: String
  private let records: Int
  private var value = SealLimit.value
  private var section: SealLimit

  init(in directory: String, records: Int, recordBytes: Int) {
    path = directory + "/limit"
    folder = directory
    self.records = records
    section = SealLimit(contextBytes: 72, bodyBytes: records * recordBytes)
  }

  mutating func call() {
    for _ in 0..<records { value.seal() }
    section.seal()
    var hash = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&hash, 32, section.sealed, UInt64(section.sealed.count), nil, 0)
    section.open()
    let file = Glibc.open(path + ".tmp", O_RDWR | O_CREAT | O_TRUNC, 0o600)
    _ = write(file, section.sealed, section.sealed.count)
    fdatasync(file)
    rename(path + ".tmp", path)
    let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY)
    fsync(directory)
    close(file)
    close(directory)
  }
}

/// What a load cannot do without: read the file, checksum it, recompute the section's tag, open its box.
struct LoadLimit {
  private let path: String
  private let key = [UInt8](repeating: 1, count: 32)

  init(_ path: String) { self.path = path }

  func call() {
    let descriptor = open(path, O_RDONLY)
    var status = stat()
    fstat(descriptor, &status)
    let count = Int(status.st_size)
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    let out = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    defer {
      bytes.deallocate()
      out.deallocate()
      close(descriptor)
    }
    _ = pread(descriptor, bytes, count, 0)
    let input = bytes.assumingMemoryBound(to: UInt8.self)
    let length = UInt64(count - (32 << 10))
    var hash = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&hash, 32, input, length, nil, 0)
    crypto_generichash(&hash, 32, input, length, key, 32)
    // The stream cipher and Poly1305 over the same length: what opening costs, whatever the key.
    let nonce = [UInt8](repeating: 2, count: 24)
    crypto_onetimeauth(&hash, input, length, key)
    crypto_stream_xor(out.assumingMemoryBound(to: UInt8.self), input, length, nonce, key)
  }
}
