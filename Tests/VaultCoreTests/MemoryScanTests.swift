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

  private struct Note: Codable {
    let secret: String
    let offset: Int
  }

  private struct Known: Codable {
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

  private var known: Known
  /// Which words need a look at the notes: a bit for each of 2^20 hashes.
  private let sieve = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 17)
  /// What memory is copied to, and the stack of who does it. Shared, so that the kernel does not join it to its
  /// neighbours: it alone is not searched.
  private let own = mmap(nil, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
  private static let chunk = 1 << 20

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

  private func sift(_ word: UInt64) {
    let bit = Self.hash(word)
    sieve[bit >> 3] |= 1 << UInt8(bit & 7)
  }

  private static func hash(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 44)
  }

  // MARK: Searching

  /// All that is found.
  func finds() throws -> [Find] {
    nonisolated(unsafe) var finds: [Find] = []
    try onOwnThread { [self] in finds = try search() }
    return finds
  }

  private func search() throws -> [Find] {
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
  private func positions(_ count: Int) -> [Int] {
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

  private final class Work: @unchecked Sendable {
    let body: @Sendable () throws -> Void
    var error: (any Error)?
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
  }

  private func onOwnThread(_ body: @escaping @Sendable () throws -> Void) throws {
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

  private init?(_ line: String) {
    let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard bounds.count == 2 else { return nil }
    (range, self.line) = (bounds[0]..<bounds[1], line)
  }

  private static func lines(of path: String) -> [String] {
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

/// What a process that uses a vault finds in a directory, and looks for in its own memory. The vault is made by another
/// process: this one has seen nothing of it.
struct SearchedVault {
  let directory: String
  let search: MemorySearch
  var path: String { directory + "/vault.spv" }

  /// Makes the vault and its credentials, and notes every secret of it.
  static func with(_ body: (_ directory: String) async throws -> Void) async throws {
    try await TemporaryDirectory.with { directory in
      try make(in: directory)
      try await body(directory)
    }
  }

  init(_ directory: String) throws {
    self.directory = directory
    search = try MemorySearch(from: directory + "/notes")
  }

  /// The values: name, length, class.
  static let values: [(key: String, count: Int, accessibility: Accessibility)] = [
    ("short", 12, .whenUnlocked), ("line", 40, .whenUnlocked), ("long", 5000, .whenUnlocked),
    ("kept", 40, .afterFirstUnlock), ("bound", 300, .whenUnlockedThisDeviceOnly),
    ("kept and bound", 40, .afterFirstUnlockThisDeviceOnly),
  ]

  private static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

  private static func make(in directory: String) throws {
    let search = MemorySearch()
    let (passphrase, wrong, key, deviceKey) = (random(24), random(24), random(32), random(32))
    let text = { (bytes: [UInt8]) in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    try FileBytes.write(passphrase, to: directory + "/passphrase")
    try FileBytes.write(wrong, to: directory + "/wrong")
    try FileBytes.write(Array("spv-key-1:\(text(key))".utf8), to: directory + "/key")
    try FileBytes.write(Array("spv-key-1:\(text(deviceKey))".utf8), to: directory + "/device-key")
    var options = Vault.Options()
    options.deviceKey = try SealingKey(copying: deviceKey)
    let credentials = [try Credential.passphrase(of: passphrase), .key(try SealingKey(copying: key))]
    let vault = try Vault.create(
      at: directory + "/vault.spv", slots: credentials.map { NewSlot($0, cost: .throwaway) },
      groups: [NewGroup(), NewGroup("other")], options: options)
    for (key, count, accessibility) in values {
      for age in ["earlier ", ""] {
        let value = random(count)
        search.add("\(age)value \(key)", value)
        try vault.update(service: Name("db"), in: vault.group()) { batch throws(VaultError) in
          try batch.set(value, forKey: key, as: accessibility, edit: .keeping(1))
        }
      }
    }
    // Nobody asks for this record: its name comes into the memory of a process by loading alone.
    let name = text(random(20))
    try vault.update(service: Name("db"), in: vault.group()) { batch throws(VaultError) in
      try batch.set("v", forKey: name)
    }
    search.add("name of a record", Array(name.utf8))
    search.add("passphrase", passphrase)
    search.add("wrong passphrase", wrong)
    for (name, key) in [("raw key", key), ("device key", deviceKey)] {
      search.add(name, key)
      search.add("text of the \(name)", Array(text(key).utf8))
    }
    try search.addKeys(of: vault)
    for slot in try vault.handle.loaded.withLock({ try $0.state.snapshot.slots }) {
      for credential in credentials where credential.kind == slot.kind {
        try search.addCredential(credential, of: slot, in: vault)
      }
    }
    let slot = try vault.handle.loaded.withLock { try $0.state.snapshot.slots[0] }
    try search.addCredential(.passphrase(of: wrong), of: slot, in: vault, prefix: "wrong ")
    try search.save(to: directory + "/notes")
  }

  // MARK: As a program reads them

  /// Reads a file into guarded memory.
  func bytes(of file: String) throws -> SecretBytes {
    let descriptor = Glibc.open(directory + "/" + file, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = try SecretBytes(count: 100)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress!, $0.count) }
    return try bytes.prefix(count)
  }

  func passphrase(_ file: String = "passphrase") throws -> Credential { .passphrase(try bytes(of: file)) }
  func key() throws -> Credential { try bytes(of: "key").withSpan { (span) throws in try .key(text: span) } }

  func options() throws -> Vault.Options {
    var options = Vault.Options()
    options.deviceKey = try bytes(of: "device-key").withSpan { (span) throws in try KeyText.parse(span) }
    return options
  }

  func open() throws -> Vault { try Vault.open(at: path, credential: passphrase(), options: options()) }

  /// Lends a value, and nothing more.
  func read(_ key: String, _ count: Int, _ vault: Vault) throws {
    let length = try vault.withValue(service: Name("db"), key: key, in: vault.group()) { $1.count }
    try #require(length == count)
  }

  func readAll(_ vault: Vault) throws {
    for value in Self.values { try read(value.key, value.count, vault) }
  }

  /// What opening with the passphrase in that file is refused with.
  func refusal(_ file: String) throws -> VaultError.Code? {
    let credential = try passphrase(file)
    return VaultCoreTests.refusal { try Vault.open(at: path, credential: credential) }
  }

  /// Changes the passphrase that opened `vault` to a new one.
  func replaceSlot(_ vault: Vault) throws {
    let new = try fresh("new passphrase")
    try vault.replaceSlot(with: NewSlot(Credential(content: .passphrase(new)), cost: .throwaway))
    let credential = Credential(content: .passphrase(new))
    let slot = try vault.handle.loaded.withLock { try $0.state.snapshot.slots[0] }
    try search.note { search in try search.addCredential(credential, of: slot, in: vault, prefix: "new ") }
  }

  /// Secret bytes that are not known yet, noted.
  func fresh(_ name: String, _ count: Int = 40) throws -> Credential.Passphrase {
    let fresh = Credential.Passphrase(try SecretBytes(count: count, from: .system))
    try search.note { search in fresh.bytes.withUnsafeBytes { search.add(name, $0) } }
    return fresh
  }

  func set(_ vault: Vault, _ value: Credential.Passphrase) throws {
    _ = try value.bytes.withUnsafeBytes { (bytes) throws(VaultError) in
      try vault.update(service: Name("db"), in: vault.group()) { (batch) throws(VaultError) in
        try batch.set(bytes, kind: .data, forKey: "new")
      }
    }
  }

  // MARK: What is found

  /// Where a new key lies, as do all others that fit on its page.
  func keyPage() throws -> UInt {
    try SealingKey(from: .system).withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) & ~4095 }
  }

  /// What is found elsewhere than on the page of the keys, or is none of `keys`.
  func strays(except keys: [String] = []) throws -> [MemorySearch.Find] {
    let page = try keyPage()
    return try search.finds().filter { find in
      !(find.address & ~4095 == page && keys.contains { find.secret.hasPrefix($0) })
    }
  }

  /// The names of what is found.
  func found() throws -> Set<String> { Set(try search.finds().map(\.secret)) }
}

extension Credential {
  static func passphrase(of bytes: [UInt8]) throws -> Credential {
    var secret = try SecretBytes(count: bytes.count)
    secret.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    return .passphrase(secret)
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

  private func addSubkeys(_ name: String, _ key: SealingKey, _ context: Context, _ sealer: Sealer) {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { out in
      sealer.derive("seal", from: key, into: out) { context.write(to: &$0) }
      add(name, UnsafeRawBufferPointer(out))
    }
  }
}

/// Rows 61 and 66: what a process that uses a vault leaves in its memory. Each test has a process of its own, which has
/// seen nothing of the vault before.
@Suite struct MemoryScanTests {
  /// The keys that an unlocked handle holds.
  private static let keys = ["vault key", "slot key", "default ", "other ", "device key"]

  @Test func `a secret that is left in memory is found, and a piece of eight bytes, too`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let before = try searched.strays()
        let copy = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        let file = Glibc.open(directory + "/passphrase", O_RDONLY)
        let count = Glibc.read(file, copy + 100, 24)
        let whole = try searched.strays()
        memset(copy + 100, 0, 4)
        memset(copy + 112, 0, 12)
        let piece = try searched.strays()
        memset(copy + 104, 0, 1)
        let nothing = try searched.strays()

        #expect(before == [], "\(before)")
        #expect(count == 24)
        #expect(whole.map(\.secret) == ["passphrase"], "\(whole)")
        #expect(whole.map(\.count) == [16], "\(whole)")
        #expect(piece.map(\.count) == [8], "\(piece)")
        #expect(nothing == [], "\(nothing)")
      }
    }
  }

  @Test func `an unlocked vault has its keys on a guarded page, and no passphrase and no value anywhere`()
    async throws
  {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        var strays: [String] = []
        func look(after step: String) throws {
          // Names are wiped when they go; while the vault is unlocked they are there.
          for find in try searched.strays(except: MemoryScanTests.keys) where find.secret != "name of a record" {
            strays.append("after \(step): \(find)")
          }
        }
        let vault = try searched.open()
        try look(after: "opening")
        for value in SearchedVault.values {
          try searched.read(value.key, value.count, vault)
          try look(after: "reading")
        }
        // The stack of a thread that has ended stays in memory.
        try onThreads(1) { _ in try searched.read("short", 12, vault) }
        try look(after: "reading in a thread")
        try searched.set(vault, searched.fresh("new value"))
        try look(after: "setting")
        _ = try vault.verify()
        try look(after: "verifying")
        try vault.compact()
        try look(after: "compacting")
        try searched.readAll(vault)
        let found = try searched.found()
        let flags = Mapping.flags(at: try searched.keyPage())

        #expect(strays == [], "\(strays)")
        let expected: Set = ["vault key", "slot key", "default group key", "default class key 0", "device key"]
        #expect(found.isSuperset(of: expected), "\(found)")
        // Locked in memory, and left out of core dumps.
        #expect(flags.contains("lo") && flags.contains("dd"), "\(flags)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `an asynchronous update leaves nothing of its value`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let vault = try searched.open()
        let (service, group) = (try Name("db"), try vault.group())
        let value = try searched.fresh("new value")
        try await vault.update(service: service, in: group) { (batch) throws(VaultError) in
          try value.bytes.withUnsafeBytes { (bytes) throws(VaultError) in
            try batch.set(bytes, kind: .data, forKey: "new")
          }
        }
        let own = value.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) }
        let strays = try searched.strays(except: MemoryScanTests.keys).filter {
          $0.secret != "name of a record" && $0.address & ~4095 != own & ~4095
        }

        #expect(strays == [], "\(strays)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `row 61: a locked vault has the keys of what stays readable, and no other secret and no name`()
    async throws
  {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let kept = ["default class key 1", "default class key 3", "device key"]
        let vault = try searched.open()
        var strays: [MemorySearch.Find] = []
        var found: [Set<String>] = []
        for round in 0..<2 {
          if round > 0 { try vault.unlock(with: searched.key()) }
          try searched.readAll(vault)
          try searched.set(vault, searched.fresh("new value"))
          vault.lock()
          strays += try searched.strays(except: kept)
          found.append(try searched.found())
        }

        #expect(strays == [], "\(strays)")
        #expect(found == [Set(kept), Set(kept)], "\(found)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `after the last reference has gone nothing is left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        for isLocked in [false, true] {
          let vault = try searched.open()
          try searched.readAll(vault)
          try searched.set(vault, searched.fresh("new value"))
          if isLocked { vault.lock() }
        }
        let strays = try searched.strays()

        #expect(strays == [], "\(strays)")
      }
    }
  }

  @Test func `after a wrong passphrase nothing of it is left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let code = try searched.refusal("wrong")
        let strays = try searched.strays()

        #expect(code == .credentialRejected)
        #expect(strays == [], "\(strays)")
      }
    }
  }

  @Test func `after a rotation and a change of the passphrase only the new keys are left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let vault = try searched.open()
        try searched.readAll(vault)
        try vault.rotateVault()
        try searched.replaceSlot(vault)
        try searched.search.note { search in try search.addKeys(of: vault, prefix: "new ") }
        let strays = try searched.strays(except: ["new ", "device key"])
        let found = try searched.found()

        #expect(strays.allSatisfy { $0.secret == "name of a record" }, "\(strays)")
        #expect(found.isSuperset(of: ["new vault key", "new slot key", "new default group key"]), "\(found)")
        withExtendedLifetime(vault) {}
      }
    }
  }
}
