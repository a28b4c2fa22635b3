import Foundation
import VaultCore
import VaultSealing

/// Writes vaults with everything the format has, by way of the library: write-vaults DIRECTORY
///
/// One vault lives on; the directory gets a copy of it after each stage. `opens` names who opens each copy.
@main struct Main {
  private static let words = "correct horse battery staple"

  static func main() throws {
    let directory = CommandLine.arguments[1]
    try Main(directory: directory).run()
  }

  private let directory: String
  private let path: String
  private let owner: SealingKey
  private let holder: SealingKey
  private let identity: VaultIdentity
  private let options: Vault.Options

  private init(directory: String) throws {
    self.directory = directory
    path = directory + "/vault.spv"
    (owner, holder) = (try Self.key(from: 0), try Self.key(from: 0x40))
    identity = try VaultIdentity(text: Array(Self.text(ofIdentityFrom: 0x60).utf8).span.bytes)
    var options = Vault.Options()
    options.deviceKey = try Self.key(from: 0x20)
    self.options = options
  }

  private func run() throws {
    let vault = try Vault.create(
      at: path,
      slots: [
        NewSlot(.key(owner), label: "owner"),
        NewSlot(try .passphrase(Self.words), label: "\u{1F511}", cost: .throwaway),
      ],
      groups: [
        NewGroup("default", service: "made") { batch throws(VaultError) in
          try Self.set("with the vault", "first", &batch)
        },
        NewGroup("empty"), NewGroup("ci"),
      ], options: options)
    try copy("created", of: vault)

    let group = try vault.group()
    try fill(vault, group)
    try copy("filled", of: vault)

    let shared = try vault.group(named: "ci")
    try vault.addSlot(NewSlot(.key(holder), label: "holder"), granting: shared)
    // By its public key, in two groups.
    try vault.addSlot(NewSlot(identity.publicKey, label: "machine"), granting: shared)
    try vault.addSlot(NewSlot(identity.publicKey, label: "machine"), granting: group)
    try write(vault, shared, "by the owner", times: 3)
    let held = try Vault.open(at: path, credential: .key(holder), options: options)
    try write(held, shared, "by the holder", times: 3)
    try write(vault, group, "between", times: 2)
    try copy("shared", of: vault)

    try held.compact()
    try write(vault, shared, "behind the fold", times: 2)
    try copy("folded", of: vault)

    try vault.rotate(shared)
    try write(held, shared, "after a rotation", times: 2)
    try vault.rotateVault(keeping: [try .passphrase(Self.words)])
    try vault.renameGroup(try vault.group(named: "empty"), to: "renamed")
    try write(vault, group, "after another", times: 2)
    try copy("rotated", of: vault)

    try vault.compact()
    try copy("compacted", of: vault)

    // A write that was cut off: part of the last entry is gone.
    try write(vault, group, "cut off", times: 2)
    try copy("torn", of: vault) { file in
      var end = file.count
      while file[end - 1] == 0 { end -= 1 }
      file.replaceSubrange(end - 40..<end, with: Data(count: 40))
    }
    try FileManager.default.removeItem(atPath: path)

    try LoggedVault(in: directory, owner: owner, holder: holder).write()
    try note("\(LoggedVault.file)\t\(Self.text(ofKeyFrom: 0))\tci", in: "logged")
    try note("\(LoggedVault.file)\tkey\t\(Self.text(ofKeyFrom: 0))", in: "opens")
    try note("\(LoggedVault.file)\tkey\t\(Self.text(ofKeyFrom: 0x40))", in: "opens")
  }

  // MARK: Records

  private func fill(_ vault: Vault, _ group: AccessGroup) throws {
    let kinds: [(String, UInt8, [UInt8])] = [
      ("string", 1, Array("s3cret \u{0}\u{1F511}".utf8)), ("empty", 1, []), ("data", 2, [0, 0xFF, 0xC0]),
      ("true", 3, [1]), ("signed", 4, Array(repeating: 0xFF, count: 8)), ("unsigned", 5, Array(1...8)),
      ("double", 6, [0, 0, 0, 0, 0, 0, 0xF8, 0x7F]), ("date", 7, Array(repeating: 0x40, count: 8)),
      ("url", 8, Array("https://example.org/".utf8)), ("json", 9, Array("{\"a\":[1,2]}".utf8)),
      ("private", 200, [1, 2, 3]), ("long", 2, (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
    ]
    try vault.transaction(service: Vault.Name("kinds"), in: group) { batch throws(VaultError) in
      for (key, kind, value) in kinds { try Self.set(value, kind, key, &batch) }
    }
    try vault.transaction(service: Vault.Name("e\u{301}\u{202E} names"), in: group) { batch throws(VaultError) in
      for key in ["\u{E9}", "a b", "~", "\u{10FFFF}", String(repeating: "k", count: 1024)] {
        try Self.set("named", key, &batch)
      }
    }
    try vault.transaction(service: Vault.Name("classes"), in: group) { batch throws(VaultError) in
      for accessibility in Vault.Accessibility.allCases {
        try Self.set(Array("bound".utf8), 1, accessibility.name, &batch, accessibility)
      }
    }
    var edit = RecordEdit()
    (edit.label, edit.comment, edit.expiry) = (.set("Label \u{1F511}"), .set("comment"), .set(4_000_000_000_000))
    edit.attributes = .set([try .init("a", [0, 1]), try .init("b", [])])
    edit.historyDepth = .set(2)
    for number in 1...4 {
      for accessibility in [Vault.Accessibility.whenUnlocked, .whenUnlockedThisDeviceOnly] {
        try vault.transaction(service: Vault.Name("history"), in: group) { batch throws(VaultError) in
          try Self.set(Array("value \(number)".utf8), 1, accessibility.name, &batch, accessibility, edit)
        }
      }
    }
    try vault.transaction(service: Vault.Name("kinds"), in: group) { batch throws(VaultError) in
      try batch.remove("empty")
      try Self.set("replaced", "string", &batch)
    }
    try vault.transaction(service: Vault.Name("removed"), in: group) { batch throws(VaultError) in
      for accessibility in Vault.Accessibility.allCases {
        try Self.set(Array("gone".utf8), 1, accessibility.name, &batch, accessibility, edit)
      }
    }
    try vault.transaction(service: Vault.Name("removed"), in: group) { batch throws(VaultError) in
      batch.keeping = .forPeople
      for accessibility in Vault.Accessibility.allCases { try batch.remove(accessibility.name) }
    }
  }

  private func write(_ vault: Vault, _ group: AccessGroup, _ value: String, times: Int) throws {
    for number in 1...times {
      try vault.transaction(service: Vault.Name("journal"), in: group) { batch throws(VaultError) in
        try Self.set(value, "\(value) \(number)", &batch)
        if number > 1 { try batch.remove("\(value) \(number - 1)") }
      }
    }
  }

  private static func set(_ text: String, _ key: String, _ batch: inout Vault.Transaction) throws(VaultError) {
    try set(Array(text.utf8), 1, key, &batch)
  }

  private static func set(
    _ value: [UInt8], _ kind: UInt8, _ key: String, _ batch: inout Vault.Transaction,
    _ accessibility: Vault.Accessibility? = nil,
    _ edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try batch.set(
      value.span.bytes, kind: ValueKind(rawValue: kind), forKey: key, accessibility: accessibility, edit: edit)
  }

  // MARK: Copies

  private func copy(_ stage: String, of vault: Vault, _ change: (inout Data) -> Void = { _ in }) throws {
    var file = try Data(contentsOf: URL(filePath: path))
    change(&file)
    try file.write(to: URL(filePath: "\(directory)/\(stage).spv"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory)/\(stage).spv")
    var lines = ["\(stage).spv\tkey\t\(Self.text(ofKeyFrom: 0))", "\(stage).spv\tpassphrase\t\(Self.words)"]
    if try vault.slots().contains(where: { $0.label == "holder" }) {
      lines.append("\(stage).spv\tkey\t\(Self.text(ofKeyFrom: 0x40))")
    }
    if try vault.slots().contains(where: { $0.label == "machine" }) {
      lines.append("\(stage).spv\tidentity\t\(Self.text(ofIdentityFrom: 0x60))\t\(try vault.pin())")
    }
    for line in lines { try note(line, in: "opens") }
  }

  /// Adds a line to a file of the directory.
  private func note(_ line: String, in name: String) throws {
    let file = URL(filePath: directory + "/" + name)
    let before = FileManager.default.fileExists(atPath: file.path) ? try Data(contentsOf: file) : Data()
    try (before + Data((line + "\n").utf8)).write(to: file)
  }

  // The keys of the vectors: nothing here is secret.

  private static func key(from first: UInt8) throws -> SealingKey {
    try Array(first..<first + 32).withUnsafeBytes { try SealingKey(copying: $0) }
  }

  private static func text(ofKeyFrom first: UInt8) -> String { "spv-key-1:" + digits(from: first) }

  private static func text(ofIdentityFrom first: UInt8) -> String { "spv-identity-1:" + digits(from: first) }

  private static func digits(from first: UInt8) -> String {
    (first..<first + 32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
