import Foundation
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing

/// Copying and moving secrets into a vault.
@Suite(.throwawayVault) struct SecretMigrationTests {
  private let folder: TemporaryFolder
  private let tokens: SecretPreferences
  private var path: String { folder.path + "/.env" }

  init() throws {
    folder = try TemporaryFolder()
    tokens = try ThrowawayVault.current.preferences()
  }
}

extension SecretMigrationTests {
  /// A dotenv file of `text`.
  private func dotenv(_ text: String) throws -> DotenvPreferences {
    try Data(text.utf8).write(to: URL(filePath: path))
    return try DotenvPreferences(at: path)
  }

  private func raw() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  /// The error of `body`, whose texts never have a value.
  private func failure(_ body: () throws -> Void) -> (any Error)? {
    do { try body() } catch {
      var texts = ["\(error)", String(reflecting: error), dumped(error)]
      if let cause = (error as? PreferencesError)?.cause { texts.append("\(cause)") }
      for text in texts { #expect(!text.contains(sentinel)) }
      return error
    }
    return nil
  }

  // MARK: Sources

  @Test func `secrets move from a dotenv file, which keeps its other lines`() throws {
    let source = try dotenv("# settings\nPORT=80\nexport GITHUB_TOKEN='\(sentinel) 1'  # CI\nSIGNING=\"a\nb\"\n")

    let migration = try tokens.move(["GITHUB_TOKEN": "github", "SIGNING": "signing", "GITLAB": "gitlab"], from: source)

    #expect(try tokens.string(forKey: "github") == sentinel + " 1")
    #expect(try tokens.string(forKey: "signing") == "a\nb")
    #expect(try raw() == "# settings\nPORT=80\n")
    #expect(migration.sealed == ["github", "signing"])
    #expect(migration.missing == ["gitlab"])
    #expect(migration.present == [] && migration.kept == [])
    #expect(try ThrowawayVault.current.vault.status().groups[0].generation == 2, "one transaction")
  }

  @Test func `moving again changes nothing`() throws {
    try tokens.move(["A": "a"], from: try dotenv("A=1\nB=2\n"))
    let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    let generation = try ThrowawayVault.current.vault.status().groups[0].generation

    let migration = try tokens.move(["A": "a"], from: try DotenvPreferences(at: path))

    #expect(migration.present == ["a"] && migration.sealed == [] && migration.missing == [])
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == inode)
    #expect(try ThrowawayVault.current.vault.status().groups[0].generation == generation)
  }

  @Test func `secrets move from nested settings of a property list and a JSON file`() throws {
    for (name, key) in [("settings.plist", "plist"), ("settings.json", "json")] {
      let path = folder.path + "/" + name
      let source: any PreferencesStore =
        name.hasSuffix("plist")
        ? try PropertyListPreferences(at: path, options: .creating) : try JSONPreferences(at: path, options: .creating)
      try source.set(["server": ["port": 80, "key": .data(Data(sentinel.utf8))], "limits": [1, 2]])

      try tokens.move(["server.key": key, "limits": key + ".limits"], from: source)

      #expect(try tokens.data(forKey: key) == Data(sentinel.utf8))
      #expect(try tokens.value(forKey: key + ".limits") == [1, 2])
      #expect(try source.value(forKey: "server") == ["port": 80])
      let file = try Data(contentsOf: URL(filePath: path))
      #expect(file.range(of: Data(sentinel.utf8)) == nil)
      #expect(file.range(of: Data(Data(sentinel.utf8).base64EncodedString().utf8)) == nil)
    }
  }

  @Test func `secrets are copied from the environment, which stays`() throws {
    let environment = EnvironmentPreferences(environment: ["GITHUB_TOKEN": sentinel, "PORT": "80"])
    for migration in [
      try tokens.copy(["GITHUB_TOKEN": "github"], from: environment),
      try tokens.copy(["github.token": "github"], from: environment),
    ] { #expect(migration.sealed + migration.present == ["github"]) }
    #expect(try tokens.string(forKey: "github") == sentinel)
    #expect(try environment.string(forKey: "GITHUB_TOKEN") == sentinel)
  }

  @Test func `secrets move from a different vault with their metadata and their class`() throws {
    let expires = Date(timeIntervalSince1970: 4_000_000_000.125)
    let old = try ThrowawayVault()
    let source = try SecretPreferences(service: "old", accessibility: .afterFirstUnlock, in: old.vault)
    try source.set(
      Secret(sentinel), forKey: "token", expires: expires, label: "CI", comment: "c", attributes: ["o": Data([1])])
    try source.set(7, forKey: "number")
    try source.set("stays", forKey: "other")

    try tokens.move(["token": "github", "number": "number"], from: source)

    let info = try #require(try tokens.info(forKey: "github"))
    #expect(try tokens.string(forKey: "github") == sentinel)
    #expect(try tokens.value(forKey: "number") == 7)
    #expect(info.expires == expires && info.label == "CI" && info.comment == "c")
    #expect(info.attributes == ["o": Data([1])] && info.accessibility == .afterFirstUnlock)
    #expect(try source.keys() == ["other"])
  }

  @Test func `the class of the store comes before that of the source`() throws {
    let source = try SecretPreferences(
      service: "old", accessibility: .afterFirstUnlock, in: try ThrowawayVault.current.reopened())
    try source.set("v", forKey: "token")
    let target = try SecretPreferences(
      service: "new", accessibility: .whenUnlocked, in: ThrowawayVault.current.vault)
    try target.copy(["token": "token"], from: try source.snapshot())
    #expect(try target.info(forKey: "token")?.accessibility == .whenUnlocked)
  }

  @Test func `a secret that needs a device key is not weakened`() throws {
    var options = Vault.Options()
    options.deviceKey = try SealingKey(from: .system)
    let old = try ThrowawayVault(options: options)
    let source = try SecretPreferences(
      service: "old", accessibility: .whenUnlockedThisDeviceOnly, in: old.vault)
    try source.set(sentinel, forKey: "token")

    let error = failure { try tokens.move(["token": "token"], from: source) }

    #expect((error as? VaultError)?.code == .deviceKeyMissing)
    #expect(try source.string(forKey: "token") == sentinel)
    #expect(try tokens.keys() == [])
  }

  @Test func `the asynchronous forms do the same`() async throws {
    let source = try dotenv("A=1\nB=2\n")
    let moved = try await tokens.move(["A": "a"], from: source) { _, value in
      PreferenceValue(parsing: try String(preferenceValue: value), as: .integer) ?? value
    }
    let copied = try await tokens.copy(["B": "b"], from: source)
    #expect(moved.sealed == ["a"] && copied.sealed == ["b"])
    #expect(try tokens.value(forKey: "a") == 1)
    #expect(try raw() == "B=2\n")
  }

  @Test func `names and values of every size and spelling`() throws {
    let huge = String(repeating: "x", count: 1 << 20)
    let key = "a b/ü\"'\u{1F98A}"
    let source = DictionaryPreferences(["empty": "", "huge": .string(huge), .init("\u{65}\u{301}"): "é", key: "odd"])
    try tokens.move(["empty": "empty", "huge": "huge", "\u{E9}": "accent", key: key], from: source)
    #expect(try tokens.string(forKey: "empty") == "")
    #expect(try tokens.string(forKey: "huge") == huge)
    #expect(try tokens.string(forKey: "accent") == "é")
    #expect(try tokens.string(forKey: key) == "odd")
    #expect(source.keys() == [])
  }

  // MARK: Transforms

  @Test func `a transform gets the name and the value, and its result is sealed`() throws {
    try tokens.move(["A": "a", "B": "b"], from: try dotenv("A=' padded '\nB=AQI=\n")) { name, value in
      let text = try String(preferenceValue: value)
      return name == "A"
        ? .string(text.trimmingCharacters(in: .whitespaces)) : .data(try #require(Data(base64Encoded: text)))
    }
    #expect(try tokens.string(forKey: "a") == "padded")
    #expect(try tokens.data(forKey: "b") == Data([1, 2]))
    #expect(try raw() == "")
  }

  @Test func `a transform that throws changes nothing`() throws {
    struct Wrong: Error {}
    let text = "A=1\nB=\(sentinel)\n"
    let error = failure {
      try tokens.move(["A": "a", "B": "b"], from: try dotenv(text)) { name, value in
        guard name == "A" else { throw Wrong() }
        return value
      }
    }
    #expect(error is Wrong)
    #expect(try tokens.keys() == [])
    #expect(try raw() == text)
  }

  // MARK: Conflicts

  @Test func `a different value in the vault is an error that changes nothing`() throws {
    try tokens.set("\(sentinel) old", forKey: "a")
    let text = "A='\(sentinel) new'\nB=2\n"
    let error = failure { try tokens.move(["A": "a", "B": "b"], from: try dotenv(text)) }
    #expect((error as? VaultError)?.code == .conflict)
    #expect((error as? VaultError)?.message == "the vault has a different value under 1 of 2 keys")
    #expect(try tokens.keys() == ["a"])
    #expect(try tokens.string(forKey: "a") == sentinel + " old")
    #expect(try raw() == text)
  }

  @Test func `a kind counts as a difference`() throws {
    try tokens.set(1, forKey: "a")
    #expect(code { try tokens.move(["A": "a"], from: try dotenv("A=1")) } == .conflict)
  }

  @Test func `the vault's value is kept if that is wanted, and so is the source's`() throws {
    try tokens.set("old", forKey: "a")
    let migration = try tokens.move(["A": "a", "B": "b"], from: try dotenv("A=new\nB=2\n"), onConflict: .keep)
    #expect(migration.kept == ["a"] && migration.sealed == ["b"])
    #expect(try tokens.string(forKey: "a") == "old")
    #expect(try raw() == "A=new\n")
  }

  @Test func `the vault's value is replaced if that is wanted`() throws {
    try tokens.set("old", forKey: "a", expires: nil, label: "CI")
    let migration = try tokens.move(["A": "a"], from: try dotenv("A=new\n"), onConflict: .replace)
    #expect(migration.sealed == ["a"])
    #expect(try tokens.string(forKey: "a") == "new")
    #expect(try tokens.info(forKey: "a")?.label == "CI")
    #expect(try raw() == "")
  }

  @Test func `a secret of a vault brings all its metadata, and keeps none of the one that it replaces`() throws {
    let source = try ThrowawayVault().preferences()
    try tokens.set("old", forKey: "a", expires: .distantFuture, label: "CI", attributes: ["host": Data([0])])
    try source.set("new", forKey: "a")
    var edit = RecordEdit()
    edit.attributes = .set([try .init("z", [1]), try .init("host", [1]), try .init("host", [2])])
    try source.transaction { batch in try batch.set("new", forKey: "b", edit: edit) }

    try tokens.move(["a": "a", "b": "b"], from: source, onConflict: .replace)

    let info = try #require(try tokens.info(forKey: "a"))
    #expect(info.label == nil && info.expires == nil && info.attributes == [:])
    let vault = ThrowawayVault.current.vault
    let record = try vault.records(in: try vault.group()).first { $0.key.text == "b" }
    #expect(record?.attributes.map(\.data) == [[1], [1], [2]])
    #expect(record?.attributes.map(\.name.text) == ["z", "host", "host"])
  }

  @Test func `two names for one key are refused`() throws {
    #expect(code { try tokens.move(["A": "\u{E9}", "B": "e\u{301}"], from: try dotenv("A=1\nB=1\n")) } == .conflict)
    #expect(try tokens.keys() == [])
    #expect(try raw() == "A=1\nB=1\n")
  }

  @Test func `a secret is never moved onto itself, through any handle or view`() throws {
    try tokens.set("v", forKey: "a")
    let other = try SecretPreferences(service: tokens.service, in: try ThrowawayVault.current.reopened())
    let sources: [any PreferencesStore] = [
      tokens, other, tokens.claiming(.everything), FailingPreferences(tokens, isSealed: true),
    ]
    for source in sources {
      #expect(code { try tokens.move(["a": "a"], from: source) } == .conflict)
    }
    #expect(code { try tokens.move(["a": "b", "b": "c"], from: other, onConflict: .replace) } == .conflict)
    #expect(try tokens.keys() == ["a"])
  }

  @Test func `a secret moves to a different key or service of the same vault`() throws {
    try tokens.set("v", forKey: "a")
    try tokens.move(["a": "b"], from: tokens)
    #expect(try tokens.keys() == ["b"])
    let other = try ThrowawayVault.current.preferences(service: "other")
    try other.move(["b": "b"], from: tokens)
    #expect(try tokens.keys() == [])
    #expect(try other.string(forKey: "b") == "v")
  }

  // MARK: Failures

  @Test func `a source that cannot be read leaves the vault as it is`() throws {
    let source = FailingPreferences(DictionaryPreferences(["a": .string(sentinel)]))
    source.become(.failing())
    #expect(failure { try tokens.move(["a": "a"], from: source) } is FailingPreferences.Failure)
    #expect(try tokens.keys() == [])
  }

  @Test func `a vault that is locked leaves the source as it is`() throws {
    let source = try dotenv("A=\(sentinel)\n")
    ThrowawayVault.current.vault.lock()
    #expect((failure { try tokens.move(["A": "a"], from: source) } as? VaultError)?.code == .locked)
    #expect(try raw() == "A=\(sentinel)\n")
  }

  @Test(arguments: ["", "line\nbreak"]) func `a bad key changes nothing`(key: String) throws {
    let source = try dotenv("A=\(sentinel)\nB=2\n")
    #expect((failure { try tokens.move(["A": key, "B": "b"], from: source) } as? VaultError)?.code == .invalidName)
    #expect(try tokens.keys() == [])
    #expect(try raw() == "A=\(sentinel)\nB=2\n")
  }

  @Test func `a value that is too large changes nothing`() throws {
    let source = DictionaryPreferences(["a": .data(Data(count: 1 << 26)), "b": "2"])
    #expect(code { try tokens.move(["a": "a", "b": "b"], from: source) } == .valueTooLarge)
    #expect(try tokens.keys() == [])
    #expect(source.keys() == ["a", "b"])
  }

  @Test func `a failure while erasing says that the copy is complete, and moving again finishes`() throws {
    let base = DictionaryPreferences(["a": .string(sentinel)])
    let source = StoppingStore(base) { throw PreferencesError(.unwritable, "the disk is full") }

    let error = failure { try tokens.move(["a": "a"], from: source) } as? PreferencesError

    #expect(error?.code == .notErased)
    #expect((error?.cause as? PreferencesError)?.code == .unwritable)
    #expect(try tokens.string(forKey: "a") == sentinel)
    #expect(try base.string(forKey: "a") == sentinel)

    let migration = try tokens.move(["a": "a"], from: base)
    #expect(migration.present == ["a"] && migration.sealed == [])
    #expect(base.keys() == [])
  }

  @Test func `a file that cannot be written is reported in the same way`() throws {
    // A name that belongs to a mark beside it.
    let path = folder.path + "/mark.tmp"
    try Data("spv-mark-1\n".utf8).write(to: URL(filePath: folder.path + "/mark"))
    try Data("A=1\n".utf8).write(to: URL(filePath: path))
    let source = try DotenvPreferences(at: path)
    #expect((failure { try tokens.move(["A": "a"], from: source) } as? PreferencesError)?.code == .notErased)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "A=1\n")
    #expect(try tokens.string(forKey: "a") == "1")
  }

  @Test func `a value that changes in the source meanwhile is not erased`() throws {
    let source = try dotenv("A=old\nB=2\n")
    let path = path
    let error = failure {
      try tokens.move(["A": "a", "B": "b"], from: source) { name, value in
        try DotenvPreferences(at: path).set(.string("\(sentinel) new"), forKey: "A")
        return value
      }
    }
    #expect((error as? PreferencesError)?.code == .notErased)
    #expect(try raw() == "A='\(sentinel) new'\nB=2\n")
    #expect(try tokens.string(forKey: "a") == "old")
  }

  @Test func `a line that is added meanwhile is kept`() throws {
    let source = try dotenv("A=1\n")
    let path = path
    try tokens.move(["A": "a"], from: source) { _, value in
      try DotenvPreferences(at: path).set("2", forKey: "B")
      return value
    }
    #expect(try raw() == "B=2\n")
  }

  @Test func `a name that a lower layer has as well counts as not erased`() throws {
    let source = CompositePreferences([DictionaryPreferences(["a": "1"]), DictionaryPreferences(["a": "1"]).readOnly])
    #expect((failure { try tokens.move(["a": "a"], from: source) } as? PreferencesError)?.code == .notErased)
    #expect(try tokens.string(forKey: "a") == "1")
  }

  @Test func `a value that the vault lost before it was verified stays in the source`() throws {
    // Another writer removes the value as soon as it is sealed.
    let other = try SecretPreferences(service: tokens.service, in: try ThrowawayVault.current.reopened())
    let observation = tokens.observe { _ in
      do { try other.removeAll() } catch { Issue.record(error) }
    }
    let source = try dotenv("A=\(sentinel)\n")
    #expect((failure { try tokens.move(["A": "a"], from: source) } as? VaultError)?.code == .conflict)
    #expect(try raw() == "A=\(sentinel)\n")
    withExtendedLifetime(observation) {}
  }

  // MARK: At once

  @Test func `several handles that move the same names at once lose nothing`() async throws {
    let names = Dictionary(uniqueKeysWithValues: (0..<20).map { ("V\($0)", "v\($0)") })
    _ = try dotenv("# c\n" + names.keys.sorted().map { "\($0)=\(sentinel)\($0)\n" }.joined())
    let (path, vault) = (path, ThrowawayVault.current)
    let sealed = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask {
          // A handle of its own for each, as in a process of its own.
          let target = try SecretPreferences(service: "com.example.test", in: try vault.reopened())
          let source = try DotenvPreferences(at: path)
          let migration = try await target.move(names, from: source)
          #expect(migration.missing == [] && migration.kept == [])
          return migration.sealed.count
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sealed == 20)
    #expect(try raw() == "# c\n")
    for (name, key) in names { #expect(try tokens.string(forKey: key) == sentinel + name) }
  }

  @Test func `a migration prints without names`() throws {
    let migration = try tokens.move(["A": sentinel], from: try dotenv("A=1"))
    #expect("\(migration)" == "1 sealed, 0 present, 0 kept, 0 missing")
    #expect(!(String(reflecting: migration) + dumped(migration)).contains(sentinel))
  }
}
