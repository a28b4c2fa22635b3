import Foundation
import Glibc
import Testing
package import VaultSealing

/// Searches the memory of its own process for secrets.
///
/// It keeps them masked only, so that it does not find itself: each run of eight bytes, mixed with a random word. Of
/// memory it looks at every aligned word. So it finds what is left of a secret in fifteen bytes side by side, or in
/// eight that are aligned. It works on a thread whose stack it does not search, and leaves out the unused part of the
/// calling thread's stack.
package final class MemorySearch: @unchecked Sendable {
  // Unchecked: used by one thread at a time.

  package struct Note: Codable {
    package let secret: String
    package let offset: Int
  }

  package struct Known: Codable {
    let mask: UInt64
    var notes: [UInt64: Note] = [:]
  }

  /// Eight bytes of a secret that were found in memory, and the bytes right behind.
  package struct Find: Equatable, CustomStringConvertible {
    package let secret: String
    package let offset: Int
    package let address: UInt
    package fileprivate(set) var count = 8
    package let mapping: Mapping

    package var description: String {
      "\(secret), bytes \(offset)..<\(offset + count), at \(String(address, radix: 16)) in \(mapping.line)"
    }
  }

  var known: Known
  /// Which words need a look at the notes: a bit for each of 2^20 hashes.
  let sieve = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 17)
  /// What memory is copied to, and the stack of the copying thread. Shared, so that the kernel does not join it to its
  /// neighbours: it alone is not searched.
  let own = mmap(nil, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
  static let chunk = 1 << 20

  /// Knows nothing yet.
  package init() {
    known = Known(mask: .random(in: .min ... .max))
    sieve.initialize(repeating: 0, count: 1 << 17)
  }

  /// Knows what ``save(to:)`` wrote in another process.
  package convenience init(from path: String) throws {
    self.init()
    known = try JSONDecoder().decode(Known.self, from: Data(contentsOf: URL(filePath: path)))
    for word in known.notes.keys { sift(word) }
  }

  deinit {
    sieve.deallocate()
    munmap(own, 2 << 20)
  }

  /// Writes down what is known, masked.
  package func save(to path: String) throws { try JSONEncoder().encode(known).write(to: URL(filePath: path)) }

  // MARK: Knowing

  /// Runs `body` where it may look at secrets, and look for those that it adds from now on.
  package func note(_ body: @escaping @Sendable (MemorySearch) throws -> Void) throws {
    try onOwnThread { [self] in try body(self) }
  }

  /// Adds a secret of at least eight bytes.
  package func add(_ secret: String, _ bytes: UnsafeRawBufferPointer) {
    for offset in 0...bytes.count - 8 {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ known.mask
      known.notes[word] = Note(secret: secret, offset: offset)
      sift(word)
    }
  }

  package func add(_ secret: String, _ key: SealingKey) { key.withUnsafeBytes { add(secret, $0) } }
  package func add(_ secret: String, _ bytes: [UInt8]) { bytes.withUnsafeBytes { add(secret, $0) } }

  func sift(_ word: UInt64) {
    let bit = Self.hash(word)
    sieve[bit >> 3] |= 1 << UInt8(bit & 7)
  }

  static func hash(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 44)
  }

  // MARK: Searching

  /// All that is found.
  package func finds() throws -> [Find] {
    nonisolated(unsafe) var finds: [Find] = []
    try onOwnThread { [self] in finds = try search() }
    return finds
  }

  package func search() throws -> [Find] {
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    var finds: [Find] = []
    for mapping in Mapping.all() where mapping.isOfInterest && !mapping.range.contains(UInt(bitPattern: own)) {
      var address = mapping.range.lowerBound
      while address < mapping.range.upperBound {
        let length = min(Self.chunk, Int(mapping.range.upperBound - address))
        let count = pread(memory, own, length, off_t(address))
        // Pages of the kernel's own are listed, too, and cannot be read.
        if count <= 0 { break }
        defer { address += UInt(count) }
        // Most are zeros: unused stacks.
        if memcmp(own, own + 8, count - 8) == 0 { continue }
        for position in positions(count / 8) {
          let word = own.load(fromByteOffset: position * 8, as: UInt64.self) ^ known.mask
          guard let note = known.notes[word] else { continue }
          let place = address + UInt(position * 8)
          if let last = finds.last, last.secret == note.secret, last.address + UInt(last.count) == place {
            finds[finds.count - 1].count += 8
          } else {
            finds.append(Find(secret: note.secret, offset: note.offset, address: place, mapping: mapping))
          }
        }
      }
    }
    memset(own, 0, Self.chunk)
    return finds
  }

  /// Which words of the chunk may be known.
  func positions(_ count: Int) -> [Int] {
    let (words, mask) = (own.assumingMemoryBound(to: UInt64.self), known.mask)
    var positions: [Int] = []
    var position = 0
    while position < count {
      let bit = Self.hash(words[position] ^ mask)
      if sieve[bit >> 3] & (1 << UInt8(truncatingIfNeeded: bit & 7)) != 0 { positions.append(position) }
      position += 1
    }
    return positions
  }

  final class Work: @unchecked Sendable {
    let body: @Sendable () throws -> Void
    var error: (any Error)?
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
  }

  func onOwnThread(_ body: @escaping @Sendable () throws -> Void) throws {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    try #require(pthread_attr_setstack(&attributes, own + Self.chunk, 1 << 20) == 0)
    var thread = pthread_t()
    let work = Work(body)
    let failed = pthread_create(
      &thread, &attributes,
      { argument in
        let work = Unmanaged<Work>.fromOpaque(argument!).takeUnretainedValue()
        do { try work.body() } catch { work.error = error }
        return nil
      }, Unmanaged.passUnretained(work).toOpaque())
    try #require(failed == 0)
    pthread_join(thread, nil)
    if let error = work.error { throw error }
  }
}
