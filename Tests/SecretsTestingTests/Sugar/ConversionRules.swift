import FoundationEssentials
import Preferences
@testable import SecretsTesting
import Testing

extension ConformanceRule {
  /// How the types of keys are converted to values and back.
  static let conversions = [
    ConformanceRule(53, "one element that does not convert is an error, and the collection stays") { fixture in
      let store = try fixture.makeStore()
      func fails<Value: PreferenceConvertible>(
        _ type: Value.Type, _ stored: PreferenceValue, _ code: PreferencesError.Code
      ) throws {
        let key = PreferenceKey<Value?>("key")
        try store.set(stored, forKey: "key")
        for reader in [store, try fixture.reopened(store)] {
          let error = #expect(throws: PreferencesError.self, "\(type)") { try reader.value(for: key) }
          #expect(error?.code == code, "\(type)")
          #expect(try reader.value(forKey: "key") == stored, "\(type)")
        }
      }
      try fails([Int].self, [1, "two"], .typeMismatch)
      try fails([[Bool]].self, [[true], [0]], .typeMismatch)
      try fails(Set<UInt8>.self, [1, 256], .outOfRange)
      try fails([Int: Bool].self, ["7": true, "one": true], .outOfRange)
      try fails([String: [Bool]].self, ["a": [true], "b": [1.0]], .typeMismatch)
      try fails([Theme].self, ["dark", "sepia"], .outOfRange)
      try fails(Range<Int>.self, [5, 1], .outOfRange)
      try fails(ClosedRange<Double>.self, [1.5, 1.0], .outOfRange)
      try fails(Range<Int>.self, [5], .outOfRange)
    },
    ConformanceRule(54, "what is stored is the documented form of each type") { fixture in
      let store = try fixture.makeStore()
      let uuid = UUID()
      func set(_ value: some PreferenceConvertible, _ stored: PreferenceValue) throws {
        try store.set(value, forKey: "key")
        #expect(try fixture.reopened(store).value(forKey: "key") == stored)
      }
      try set(uuid, .string(uuid.uuidString))
      try set(Theme.dark, "dark")
      try set(Level.high, 9)
      try set([Rights.read, .write], [.unsignedInteger(1), .unsignedInteger(128)])
      try set(1..<3, [1, 3])
      try set(1.0...3, [1.0, 3.0])
      try set([-1: true], ["-1": true])
      try set(Set(["b", "a"]), ["a", "b"])
      let server = Server()
      try store.set(server, for: .codable("server", default: server))
      let coded: PreferenceValue = [
        "host": "default", "port": .unsignedInteger(1), "since": .date(server.since), "key": .data(server.key),
        "home": .url(server.home), "theme": "light", "tags": [],
      ]
      #expect(try fixture.reopened(store).value(forKey: "server") == coded)
    },
    ConformanceRule(54, "a key says which form is stored, and reads the other on request") { fixture in
      let store = try fixture.makeStore()
      let raw = PreferenceKey("size", default: Int64(0))
      let coded = PreferenceKey("size", default: Int64(0), through: JSONTransformation().asText)
      try store.set(7, for: coded)
      #expect(try store.value(forKey: "size") == "7")
      // Text is parsed where a key asks for a number, and the text of a number is its JSON.
      #expect(try store.value(for: raw) == 7)
      try store.set("seven", forKey: "size")
      #expect(throws: PreferencesError.self) { try store.value(for: raw) }
      #expect(throws: PreferencesError.self) { try store.value(for: coded) }
      try store.set(7, for: coded)
      let either = raw.alsoReading(coded)
      #expect(try store.value(for: either) == 7)
      try store.update(either) { $0 += 1 }
      #expect(try fixture.reopened(store).value(forKey: "size") == 8)
      #expect(try fixture.reopened(store).value(for: raw) == 8)
    },
    ConformanceRule(55, "custom collections and set algebras come back") { fixture in
      let store = try fixture.makeStore()
      var matrix = ValueMatrix()
      try matrix.add(Playlist(["one", "two"]))
      try matrix.add([Playlist([]), Playlist(["three"])])
      try matrix.add(Bag([3, 1, 2]))
      try matrix.add(["a": Bag([]), "b": Bag([7])])
      try matrix.add(ContiguousArray([1, 2]))
      try matrix.add([1, 2, 3][1...])
      try matrix.write(to: store)
      try matrix.check(store)
      try matrix.check(fixture.reopened(store))
      try store.set(Bag([3, 1, 2]), forKey: "bag")
      #expect(try store.value(forKey: "bag") == [1, 2, 3])
    },
  ]
}
