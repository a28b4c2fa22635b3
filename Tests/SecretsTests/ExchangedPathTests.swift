import Foundation
import Preferences
import PreferencesFoundation
import Secrets
import SecretsTesting
import Synchronization
import Testing
import VaultCore

/// Every store that watches a file notices whatever of its path is exchanged.
struct ExchangedPathTests {
  private static let token = PreferenceKey<String?>("token")

  enum Store: CaseIterable { case json, propertyList, dotenv, userDefaults, vault }

  enum Exchange: CaseIterable {
    case linkedFolder, middleLink, folderRenamedAway, folderMadeAgain, folderAboveMadeAgain
    case linkMadeAgain, hardLink, otherName, file
  }

  /// `way` leads over `hop` to the folder `far/one`, where `box/name` is a link to `file`. `far/two` has the same, with
  /// the new value. The last name of a vault may not be a link.
  private struct Tree {
    let base: String
    var path: String { store == .vault ? base + "/way/box/file" : base + "/way/box/name" + suffix }
    let store: Store
    let suffix: String

    init(_ store: Store, in base: String, _ write: (_ path: String, _ text: String) throws -> Void) throws {
      self.base = base
      self.store = store
      suffix = store == .userDefaults ? ".plist" : ""
      for (folder, text) in [("one", "old"), ("two", "new")] {
        try FileManager.default.createDirectory(atPath: "\(base)/far/\(folder)/box", withIntermediateDirectories: true)
        chmod("\(base)/far/\(folder)/box", 0o700)
        try write("\(base)/far/\(folder)/box/file", text)
        try link("file", at: "far/\(folder)/box/name" + suffix)
      }
      try link("far/one", at: "hop")
      try link("hop", at: "way")
    }

    private func link(_ target: String, at name: String) throws {
      try FileManager.default.createSymbolicLink(atPath: "\(base)/\(name)", withDestinationPath: target)
    }

    private func move(_ from: String, _ to: String) throws {
      try #require(rename("\(base)/\(from)", "\(base)/\(to)") == 0)
    }

    func make(_ exchange: Exchange) throws {
      let (old, new) = ("\(base)/far/one/box", "\(base)/far/two/box")
      switch exchange {
      case .linkedFolder:
        try link("far/two", at: "next")
        try move("next", "way")
      case .middleLink:
        try link("far/two", at: "next")
        try move("next", "hop")
      case .folderRenamedAway:
        try move("far/one/box", "far/one/away")
        try move("far/two/box", "far/one/box")
      case .folderMadeAgain:
        try FileManager.default.removeItem(atPath: old)
        try FileManager.default.copyItem(atPath: new, toPath: old)
      case .folderAboveMadeAgain:
        try FileManager.default.removeItem(atPath: "\(base)/far/one")
        try FileManager.default.copyItem(atPath: "\(base)/far/two", toPath: "\(base)/far/one")
      case .linkMadeAgain where store == .vault:
        try FileManager.default.removeItem(atPath: "\(base)/way")
        try link("far/two", at: "way")
      case .linkMadeAgain:
        try FileManager.default.removeItem(atPath: "\(old)/name\(suffix)")
        try link("../../two/box/file", at: "far/one/box/name" + suffix)
      case .hardLink:
        try FileManager.default.removeItem(atPath: "\(old)/file")
        try #require(Foundation.link("\(new)/file", "\(old)/file") == 0)
        // A vault with two names is not written to.
        try FileManager.default.removeItem(atPath: "\(new)/file")
      case .otherName:
        let handle = try FileHandle(forWritingTo: URL(filePath: "\(base)/alias"))
        try handle.write(contentsOf: Data(contentsOf: URL(filePath: "\(new)/file")))
        try handle.close()
      case .file: try move("far/two/box/file", "far/one/box/file")
      }
    }
  }

  @Test(arguments: Store.allCases, Exchange.allCases)
  func `what is exchanged on the way to a file is noticed`(_ kind: Store, _ exchange: Exchange) throws {
    let folder = try TemporaryFolder()
    let throwaway = try ThrowawayVault()
    let tree = try Tree(kind, in: folder.path) { path, text in
      switch kind {
      case .json: try Data(#"{"token": "\#(text)"}"#.utf8).write(to: URL(filePath: path))
      case .dotenv: try Data("token=\(text)\n".utf8).write(to: URL(filePath: path))
      case .propertyList, .userDefaults:
        let list = try PropertyListSerialization.data(fromPropertyList: ["token": text], format: .xml, options: 0)
        try list.write(to: URL(filePath: path))
      case .vault:
        try throwaway.preferences().set(text, forKey: "token")
        try FileManager.default.copyItem(atPath: throwaway.path, toPath: path)
      }
    }
    if exchange == .otherName {
      // The name exists before the file is watched.
      try #require(Foundation.link("\(tree.base)/far/one/box/file", "\(tree.base)/alias") == 0)
    }
    let received = Mutex<[String?]>([])
    func expectNotice(_ store: some PreferencesReader, _ watch: PreferenceObservation? = nil) throws {
      let observation = store.observe(Self.token, initial: true) { change in
        received.withLock { $0.append(change.newValue) }
      }
      #expect(received.withLock { $0.last } == "old")
      try tree.make(exchange)
      for _ in 0..<3_000 where received.withLock({ $0.last }) != "new" { usleep(10_000) }
      #expect(received.withLock { $0.last } == "new")
      observation.invalidate()
      watch?.invalidate()
    }
    switch kind {
    case .json:
      let store = try JSONPreferences(at: tree.path)
      try expectNotice(store, store.watch())
    case .propertyList:
      let store = try PropertyListPreferences(at: tree.path)
      try expectNotice(store, store.watch())
    case .dotenv:
      let store = try DotenvPreferences(at: tree.path)
      try expectNotice(store, store.watch())
    case .userDefaults:
      let store = try UserDefaultsPreferences(suiteName: tree.base + "/way/box/name")
      try expectNotice(store, store.watch())
    case .vault:
      let vault = try Vault.open(at: tree.path, credential: .key(throwaway.key))
      try expectNotice(SecretPreferences(service: "com.example.test", in: vault))
    }
  }
}
