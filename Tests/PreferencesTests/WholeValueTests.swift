import Foundation
import Preferences
import PreferencesOperators
import Testing

private struct Server: Codable, Sendable, Equatable {
  var host: String
  var port: Int
  var limits: [String: Int]
}

/// Copies of a store take over whole values, although a store over a file lists the entries of its dictionaries.
final class WholeValueTests {
  private let server = Server(host: "x", port: 8080, limits: ["a.b": 1])

  private let folder: String

  init() throws {
    folder = "\(FileManager.default.temporaryDirectory.path)/whole-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
  }

  private func json(_ text: String = "{}") throws -> JSONPreferences {
    let path = "\(folder)/\(UUID()).json"
    try Data(text.utf8).write(to: URL(filePath: path))
    return try JSONPreferences(at: path)
  }

  @Test func `every copy of a file has the structs that the file has`() throws {
    let file = try json()
    try file.set(encoding: server, forKey: "server")
    try file.set(["inner": ["deep": 1]], forKey: "outer")
    let (added, set, copy) = (DictionaryPreferences(), DictionaryPreferences(), try json())
    try add(file, to: added)
    try set.set(file.dictionary())
    try add(file, to: copy)
    let composite = CompositePreferences([file, DictionaryPreferences(["port": 1])])
    let copies: [any PreferencesReader] = [
      try DictionaryPreferences(copying: file), added, set, copy, try DictionaryPreferences(copying: composite),
      try DictionaryPreferences(copying: file.readOnly), try DictionaryPreferences(copying: BufferedCopy(base: file)),
    ]
    for copy in copies {
      #expect(try copy.value(forKey: "server", decoding: Server.self) == server)
      #expect(try copy.value(forKey: "outer") == ["inner": ["deep": 1]])
    }
    #expect(try copy.value(forKey: "server.port") == 8080)
    #expect(try DictionaryPreferences(copying: file.below("outer.")).dictionary() == ["inner": ["deep": 1]])
  }

  @Test func `a copy returns what lookups return if several layers have a part of a dictionary`() throws {
    let upper = try json(#"{"server": {"host": "x"}}"#)
    let lower = try json(#"{"server": {"host": "y", "port": 80}, "server.beside": 1}"#)
    let composite = CompositePreferences([upper, lower])
    let (memory, file) = (try DictionaryPreferences(copying: composite), try json())
    try add(composite, to: file)
    #expect(try memory.value(forKey: "server") == ["host": "x"])
    for copy: any PreferencesReader in [memory, file] {
      #expect(try copy.value(forKey: "server.port") == 80)
      #expect(try copy.value(forKey: "server.beside") == 1)
    }
    #expect(try file.value(forKey: "server.host") == "x")
  }

  @Test func `a copy has a dictionary of which a layer above hides an entry, and the entry`() throws {
    let lower = try json(#"{"a": {"b": 2}}"#)
    for upper: any PreferencesReader in [try json(#"{"a.b": 1}"#), ["a.b": 1] as DictionaryPreferences] {
      let composite = CompositePreferences([upper, lower])
      let copy = try DictionaryPreferences(copying: composite)
      #expect(try copy.value(forKey: "a") == ["b": 2])
      #expect(try copy.value(forKey: "a.b") == 1)
      let file = try json()
      try add(composite, to: file)
      #expect(try file.value(forKey: "a.b") == 1)
    }
  }

  @Test func `a copy of a view has the dictionaries that the view renames`() throws {
    let file = try json(#"{"server": {"host": "x", "port": 80}, "other": 1}"#)
    let view = try file.renaming(["web": "server", "number": "other", "none": "nothing"])
    #expect(try view.keys() == ["number", "server.host", "server.port", "web"])
    for copy: any PreferencesReader in [try DictionaryPreferences(copying: view), try copied(view)] {
      #expect(try copy.value(forKey: "web") == ["host": "x", "port": 80])
      #expect(try copy.value(forKey: "number") == 1)
    }
  }

  private func copied(_ reader: some PreferencesReader) throws -> JSONPreferences {
    let file = try json()
    try add(reader, to: file)
    return file
  }

  @Test func `a renamed dictionary that a layer claims is no plain value`() throws {
    let sealed = SealedPreferences()
    try sealed.setSecret(["host": "x"], forKey: "server")
    let composite = CompositePreferences([sealed.claiming(.names(["server"])), DictionaryPreferences()])
    #expect(try composite.renaming(["web": "server"]).names(of: .plain) == [])
  }

  @Test func `a value beside the dictionary does not hide what is copied`() throws {
    let file = try json(#"{"server": {"host": "new", "port": 80}}"#)
    let old = try json(#"{"server.port": 1, "server.other": 2, "else": 3}"#)
    try add(file, to: old)
    #expect(try old.value(forKey: "server.port") == 80)
    #expect(try old.value(forKey: "server") == ["host": "new", "port": 80])
    #expect(try old.value(forKey: "server.other") == 2)
    #expect(try old.value(forKey: "else") == 3)
  }

  @Test func `an entry whose name is not a key is copied with its dictionary`() throws {
    let long = String(repeating: "n", count: 2000)
    let file = try json(#"{"cache": {"\#(long)": 1, "\u0001": 2, "short": 3}}"#)
    #expect(file.keys() == ["cache", "cache.short"])
    let copy = try DictionaryPreferences(copying: file)
    #expect(try copy.value(forKey: "cache") == [long: 1, "\u{1}": 2, "short": 3])
  }

  @Test func `a claimed name is copied as a secret, whatever its dictionary has`() throws {
    let sealed = SealedPreferences()
    try sealed.setSecret("token", forKey: "server")
    let file = try json(#"{"server": {"port": 80}}"#)
    let composite = CompositePreferences([sealed.claiming(.names(["server"])), file])
    #expect(try composite.dictionary() == ["server": .redacted, "server.port": 80])
    #expect(try DictionaryPreferences(copying: composite).dictionary() == ["server.port": 80])
  }

  @Test func `loading from a server stores whole dictionaries`() async throws {
    let store = DictionaryPreferences(["kept": 1])
    let remote = RemoteJSONPreferences(name: "remote") { _ in
      RemoteResponse(status: 200, bytes: Array(#"{"server": {"host": "x", "port": 8080, "limits": {"a.b": 1}}}"#.utf8))
    }
    try await remote.load(into: store)
    #expect(try store.value(forKey: "server", decoding: Server.self) == server)
    #expect(try store.value(forKey: "kept") == 1)
  }
}

private func add(_ reader: some PreferencesReader, to store: some PreferencesStore) throws { try store += reader }

/// A reader of a type of its own, which forwards.
private struct BufferedCopy: PreferencesReader {
  let base: JSONPreferences
  var name: String { base.name }
  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
}
