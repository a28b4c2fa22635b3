import CSodium
import Foundation
import Glibc
import Synchronization
import Testing

@testable import VaultCore
@testable import VaultSealing

/// Searches the memory of its own process for secrets.
///
/// It knows them masked alone, so that it does not find itself: each run of eight bytes, mixed with a random word. Of
/// memory it looks at every aligned word. So it finds what is left of a secret in fifteen bytes side by side, or in eight
/// that are aligned. It works on a thread whose stack it does not search, and leaves alone what lies dead in the stack of
/// whoever asks.
final class MemorySearch: @unchecked Sendable {
  // Unchecked: used by one thread at a time.

  struct Note: Codable {
    let secret: String
    let offset: Int
  }

  struct Known: Codable {
    let mask: UInt64
    var notes: [UInt64: Note] = [:]
  }

  /// Eight bytes of a secret that lie in memory, and those right behind.
  struct Find: Equatable, CustomStringConvertible {
    let secret: String
    let offset: Int
    let address: UInt
    fileprivate(set) var count = 8
    let mapping: Mapping

    var description: String {
      "\(secret), bytes \(offset)..<\(offset + count), at \(String(address, radix: 16)) in \(mapping.line)"
    }
  }

  var known: Known
  /// Which words need a look at the notes: a bit for each of 2^20 hashes.
  let sieve = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 17)
  /// What memory is copied to, and the stack of who does it. Shared, so that the kernel does not join it to its
  /// neighbours: it alone is not searched.
  let own = mmap(nil, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
  static let chunk = 1 << 20

  /// Knows nothing yet.
  init() {
    known = Known(mask: .random(in: .min ... .max))
    sieve.initialize(repeating: 0, count: 1 << 17)
  }

  /// Knows what ``save(to:)`` wrote in another process.
  convenience init(from path: String) throws {
    self.init()
    known = try JSONDecoder().decode(Known.self, from: Data(contentsOf: URL(filePath: path)))
    for word in known.notes.keys { sift(word) }
  }

  deinit {
    sieve.deallocate()
    munmap(own, 2 << 20)
  }

  /// Writes down what is known, masked.
  func save(to path: String) throws { try JSONEncoder().encode(known).write(to: URL(filePath: path)) }

  // MARK: Knowing

  /// Runs `body` where it may look at secrets, and look for those that it adds from now on.
  func note(_ body: @escaping @Sendable (MemorySearch) throws -> Void) throws {
    try onOwnThread { [self] in try body(self) }
  }

  /// Adds a secret of at least eight bytes.
  func add(_ secret: String, _ bytes: UnsafeRawBufferPointer) {
    for offset in 0...bytes.count - 8 {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ known.mask
      known.notes[word] = Note(secret: secret, offset: offset)
      sift(word)
    }
  }

  func add(_ secret: String, _ key: SealingKey) { key.withUnsafeBytes { add(secret, $0) } }
  func add(_ secret: String, _ bytes: [UInt8]) { bytes.withUnsafeBytes { add(secret, $0) } }

  func sift(_ word: UInt64) {
    let bit = Self.hash(word)
    sieve[bit >> 3] |= 1 << UInt8(bit & 7)
  }

  static func hash(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 44)
  }

  // MARK: Searching

  /// All that is found.
  func finds() throws -> [Find] {
    nonisolated(unsafe) var finds: [Find] = []
    try onOwnThread { [self] in finds = try search() }
    return finds
  }

  func search() throws -> [Find] {
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
        // Most are zeros: stacks that nobody used.
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

/// A part of the process's memory, as `/proc/self/maps` lists it.
struct Mapping: Equatable {
  let range: Range<UInt>
  let line: String
  /// Whether anything of the process can be in it: not in what is mapped from a file and cannot be written.
  var isOfInterest: Bool {
    let fields = line.split(separator: " ")
    return fields[1].hasPrefix("rw") || fields[1].hasPrefix("r") && fields[4] == "0"
  }

  static func all() -> [Mapping] { lines(of: "/proc/self/maps").compactMap(Mapping.init) }

  /// What the kernel does with the mapping that holds `address`: its two-letter flags.
  static func flags(at address: UInt) -> [Substring] {
    var isHere = false
    for line in lines(of: "/proc/self/smaps") {
      if let mapping = Mapping(line) { isHere = mapping.range.contains(address) }
      if isHere, line.hasPrefix("VmFlags:") { return Array(line.split(separator: " ").dropFirst()) }
    }
    return []
  }

  init?(_ line: String) {
    let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard bounds.count == 2 else { return nil }
    (range, self.line) = (bounds[0]..<bounds[1], line)
  }

  static func lines(of path: String) -> [String] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), file) != nil {
      lines.append(String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
    return lines
  }
}

extension MemorySearch {
  /// Adds all keys of a vault, and what values and sections are sealed with.
  func addKeys(of vault: Vault, prefix: String = "") throws {
    let state = try vault.handle.loaded.withLock { try $0.state }
    let sealer = try Sealer()
    if case .owner(let key) = state.unlocked.grant { add(prefix + "vault key", key) }
    add(prefix + "slot key", state.unlocked.kek)
    for group in state.groups {
      let content = try state.content(group.id)
      let name = prefix + content.name.text
      add("\(name) group key", content.key)
      addSubkeys(
        "\(name) subkeys", content.key, .section(vault: content.vaultID, group: content.id, epoch: content.epoch),
        sealer)
      for accessibility in Accessibility.allCases {
        let key = try sealer.deriveKey("class-key", from: content.key) { $0.add(accessibility.rawValue) }
        add("\(name) class key \(accessibility.rawValue)", key)
        for value in SearchedVault.values where value.accessibility == accessibility {
          let change = Change(service: try Name("db"), key: try Name(value.key), action: .remove)
          change.withName { name in
            addSubkeys(
              "\(prefix)subkeys of \(value.key)", key, .value(service: name.service, key: name.key, kind: 2), sealer)
          }
        }
      }
    }
  }

  /// Adds what a credential becomes for a slot.
  func addCredential(_ credential: Credential, of slot: Slot, in vault: Vault, prefix: String = "") throws {
    let sealer = try Sealer()
    let root = try credential.root(salt: slot.salt, cost: slot.cost)
    let key = try Slot.kek(from: root, vault: vault.handle.vaultID, slot: slot.id, sealer)
    if credential.kind == Slot.passphraseKind { add(prefix + "root", root) }
    add(prefix + "slot key", key)
    slot.bytes.withUnsafeBytes { bytes in
      addSubkeys(
        prefix + "subkeys of a slot", key,
        .slot(vault: vault.handle.vaultID, header: UnsafeRawBufferPointer(rebasing: bytes[..<Slot.headerCount])), sealer
      )
    }
  }

  func addSubkeys(_ name: String, _ key: SealingKey, _ context: Context, _ sealer: Sealer) {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { out in
      sealer.derive("seal", from: key, into: out) { context.write(to: &$0) }
      add(name, UnsafeRawBufferPointer(out))
    }
  }
}
