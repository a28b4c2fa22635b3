internal import CMessageDigests
internal import VaultCore
internal import VaultSealing

/// A hash function of one-time codes.
enum MessageDigest {
  case sha1
  case sha256
  case sha512

  /// The number of bytes of a digest.
  var length: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }

  private var blockLength: Int { self == .sha512 ? 128 : 64 }

  /// Returns the HMAC of `message` (RFC 2104). It is computed in guarded memory.
  func code(of message: [UInt8], key: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    var hasher = try Hasher(self)
    var pad = try SecretBytes(count: blockLength)
    var inner = try SecretBytes(count: length)
    if key.count > blockLength {
      key.withUnsafeBytes { key in inner.withUnsafeMutableBytes { hasher.hash(key, into: $0) } }
      inner.withUnsafeBytes { inner in pad.withUnsafeMutableBytes { $0.copyMemory(from: inner) } }
    } else {
      key.withUnsafeBytes { key in pad.withUnsafeMutableBytes { $0.copyMemory(from: key) } }
    }
    var code = try SecretBytes(count: length)
    pad.withUnsafeMutableBytes { pad in
      for index in pad.indices { pad[index] ^= 0x36 }
      message.withUnsafeBytes { message in
        inner.withUnsafeMutableBytes { hasher.hash(UnsafeRawBufferPointer(pad), message, into: $0) }
      }
      for index in pad.indices { pad[index] ^= 0x36 ^ 0x5C }
      inner.withUnsafeBytes { inner in
        code.withUnsafeMutableBytes { hasher.hash(UnsafeRawBufferPointer(pad), inner, into: $0) }
      }
    }
    return code
  }
}

/// The state of a hash function, in guarded memory.
private struct Hasher: ~Copyable {
  private let digest: MessageDigest
  private var state: SecretBytes

  init(_ digest: MessageDigest) throws(VaultError) {
    self.digest = digest
    // libsodium aligns a block whose length is a multiple of 16.
    state = try SecretBytes(count: (max(MemoryLayout<SHA1_CTX>.size, MemoryLayout<SHA2_CTX>.size) + 15) & ~15)
  }

  /// Writes the digest of `parts`, one after the other.
  mutating func hash(_ parts: UnsafeRawBufferPointer..., into result: UnsafeMutableRawBufferPointer) {
    let result = result.baseAddress!.assumingMemoryBound(to: UInt8.self)
    state.withUnsafeMutableBytes { state in
      let short = state.baseAddress!.assumingMemoryBound(to: SHA1_CTX.self)
      let long = state.baseAddress!.assumingMemoryBound(to: SHA2_CTX.self)
      switch digest {
      case .sha1: SHA1Init(short)
      case .sha256: SHA256Init(long)
      case .sha512: SHA512Init(long)
      }
      for part in parts {
        let bytes = part.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch digest {
        case .sha1: SHA1Update(short, bytes, part.count)
        case .sha256: SHA256Update(long, bytes, part.count)
        case .sha512: SHA512Update(long, bytes, part.count)
        }
      }
      switch digest {
      case .sha1: SHA1Final(result, short)
      case .sha256: SHA256Final(result, long)
      case .sha512: SHA512Final(result, long)
      }
    }
  }
}
