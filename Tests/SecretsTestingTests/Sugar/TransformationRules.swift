import FoundationEssentials
import Preferences
import PreferencesOperators
import PreferencesTestSupport
@testable import SecretsTesting
import Testing

private let adding = TwoWayTransformation<Int, Int>(reading: { $0 + 1 }, writing: { $0 - 1 })
private let doubling = TwoWayTransformation<Int, Int>(reading: { $0 * 2 }, writing: { $0 / 2 })
private let counting = ReadingTransformation<String, Int> { $0.count }

private let mask = PreferenceKey("mask", default: 7, through: Hexadecimal())
private let text = PreferenceKey<String?>("mask")

extension ConformanceRule {
  /// Transformations and archives.
  static let transformations = [
    ConformanceRule(57, "a key through a transformation stores one thing and reads another") { fixture in
      let store = try fixture.makeStore()
      #expect(try store.value(for: mask) == 7)
      try store.set(255, for: mask)
      #expect(try fixture.reopened(store).value(forKey: "mask") == "ff")
      #expect(try fixture.reopened(store).value(for: mask) == 255)
      try store.update(mask) { $0 += 1 }
      #expect(try store.value(for: text) == "100")
      let optional = text.transformed(by: Hexadecimal())
      #expect(try store.value(for: optional) == 256)
      try store.set(nil, for: optional)
      #expect(try fixture.reopened(store).keys().isEmpty)
    },
    ConformanceRule(57, "a handle transforms both ways, and so does a subscript") { fixture in
      let store = try fixture.makeStore()
      let number = store.preference(for: text).transformed(by: Hexadecimal())
      #expect(try number.get() == nil)
      try number.set(254)
      try number += 1
      #expect(try store.value(for: text) == "ff")
      try number.clear()
      #expect(try store.keys().isEmpty)
      blocking { store["mask", Hexadecimal()] = 16 }
      #expect(try fixture.reopened(store).value(forKey: "mask") == "10")
      #expect(store["mask", Hexadecimal()] == 16)
      blocking { store["mask", Hexadecimal()] = nil }
      #expect(try store.keys().isEmpty)
    },
    ConformanceRule(57, "a chain reads from first to last and writes from last to first") { fixture in
      let store = try fixture.makeStore()
      let chain = Hexadecimal().then(doubling).then(adding)
      let key = PreferenceKey<Int?>("mask", through: chain)
      try store.set("10", for: text)
      #expect(try store.value(for: key) == 33)
      try store.set(37, for: key)
      #expect(try fixture.reopened(store).value(for: text) == "12")
    },
    ConformanceRule(58, "a transformation that fails throws, and the old value stays") { fixture in
      let store = try fixture.makeStore()
      try store.set(255, for: mask)
      let writing = #expect(throws: PreferencesError.self) { try store.set(-1, for: mask) }
      #expect(writing?.code == .notStorable)
      // The error of a secret has no cause that may contain the value.
      let isSecret = store.custody.secrecy(of: try PreferenceName("mask"), asked: mask.secrecy) == .secret
      #expect(isSecret ? writing?.cause == nil : writing?.cause is Hexadecimal.Negative)
      #expect(throws: PreferencesError.self) { try store.update(mask) { $0 = -1 } }
      #expect(failures { store[mask] = -1 }.count == 1)
      #expect(try fixture.reopened(store).value(for: text) == "ff")
      try store.set("no number", for: text)
      let reading = #expect(throws: PreferencesError.self) { try store.value(for: mask) }
      #expect(reading?.code == .malformed)
      let reported = failures { #expect(store[mask] == 7) }
      #expect(reported.count == 1 && reported.allSatisfy { $0.key.hasSuffix("mask") })
      #expect(try fixture.reopened(store).value(for: text) == "no number")
    },
    ConformanceRule(59, "closures and named transformations read and write, one-way ones only read") { fixture in
      let store = try fixture.makeStore()
      let pair = PreferenceKey<Int?>("n", through: doubling)
      try store.set(10, for: pair)
      #expect(try fixture.reopened(store).value(forKey: "n") == 5)
      #expect(try store.value(for: pair) == 10)

      let registry = TransformationRegistry()
      registry.register(Hexadecimal(), named: "hexadecimal")
      let named = try #require(try registry.transformation(named: "hexadecimal", from: String.self, to: Int.self))
      let key = PreferenceKey<Int?>("mask", through: named)
      try store.set(255, for: key)
      #expect(try fixture.reopened(store).value(for: text) == "ff")
      #expect(try store.value(for: key) == 255)
      #expect(try store.value(for: text.read(through: counting)) == 2)
      #expect(!(counting as Any is any PreferenceTransformation))
    },
    ConformanceRule(60, "anything Codable comes back from an archive: JSON, property list, structure") { fixture in
      let store = try fixture.makeStore()
      let server = Server(host: "é", port: .max, proxy: "p", tags: ["x"])
      let xml = PropertyListEncoder()
      xml.outputFormat = .xml
      let keys = [
        PreferenceKey<Server?>("json", through: JSONTransformation()),
        PreferenceKey("text", through: JSONTransformation().asText),
        PreferenceKey("list", through: PropertyListTransformation()),
        .codable("structure"),
      ].map { $0 }
      for key in keys { try store.set(server, for: key) }
      let reopened = try fixture.reopened(store)
      for key in keys { #expect(try reopened.value(for: key) == server, "\(key.name)") }
      #expect(try keys.map { try reopened.value(forKey: $0.name)?.kind } == [.data, .string, .data, .dictionary])
      // XML has no fractions of seconds.
      let limits = PreferenceKey<[String: Double]?>("xml", through: PropertyListTransformation(encoder: xml))

      try store.set(["é": .pi, "b": -.infinity], for: limits)
      #expect(try fixture.reopened(store).value(for: limits) == ["é": .pi, "b": -.infinity])
    },
    ConformanceRule(61, "a damaged archive is a value or an error, never the end of the process, and stays") {
      fixture in
      let store = try fixture.makeStore()
      let xml = PropertyListEncoder()
      xml.outputFormat = .xml
      let forms = [
        TwoWayTransformation(JSONTransformation<[String: Server]>()),
        TwoWayTransformation(PropertyListTransformation<[String: Server]>()),
        TwoWayTransformation(PropertyListTransformation<[String: Server]>(encoder: xml)),
      ]
      for form in forms {
        let archive = try form.stored(from: ["one": Server(), "two": Server(host: "é", port: .max)])
        var archives: [String: PreferenceValue] = [:]
        for number in 0..<100 {
          var damaged = archive
          let position = damaged.startIndex + damaged.count * number / 100
          if number.isMultiple(of: 3) {
            damaged.removeSubrange(position...)
          } else {
            damaged[position] ^= 1 << (number % 8)
          }
          archives["\(number)"] = .data(damaged)
        }
        try store.set(archives)
        for (name, archive) in archives {
          do { _ = try store.value(for: PreferenceKey<[String: Server]?>(name, through: form)) } catch {
            #expect(error is PreferencesError)
          }
          #expect(try store.value(forKey: name) == archive)
        }
      }
    },
    ConformanceRule(62, "Codable values: absent is nil, malformed throws, and a failed encoding keeps the old") {
      fixture in
      let store = try fixture.makeStore()
      let server = PreferenceKey<Server?>.codable("server")
      #expect(try store.value(for: server) == nil)
      try store.set(["host": "a"], forKey: "server")
      let error = #expect(throws: PreferencesError.self) { try store.value(for: server) }
      #expect(error?.code == .malformed)
      let refused = PreferenceKey<Unencodable?>.codable("server")
      let refusal = #expect(throws: PreferencesError.self) { try store.set(Unencodable(), for: refused) }
      #expect(refusal?.code == .notStorable)
      #expect(try fixture.reopened(store).value(forKey: "server") == ["host": "a"])
      try store.set(encoding: Server(), forKey: "other")
      #expect(try fixture.reopened(store).value(forKey: "other", decoding: Server.self) == Server())
    },
    ConformanceRule(62, "the coders that a key is given are used") { fixture in
      let store = try fixture.makeStore()
      let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
      encoder.keyEncodingStrategy = .convertToSnakeCase
      encoder.outputFormatting = .sortedKeys
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      struct Limits: Codable, Equatable { var maximumSize = 5 }
      let json = JSONTransformation(Limits.self, encoder: encoder, decoder: decoder)
      let key = PreferenceKey<Limits?>("limits", through: json.asText)
      try store.set(Limits(), for: key)
      #expect(try store.value(forKey: "limits") == #"{"maximum_size":5}"#)
      #expect(try fixture.reopened(store).value(for: key) == Limits())
    },
    ConformanceRule(63, "a raw value is stored for its type, and an unknown one is an error that leaves it") {
      fixture in
      enum Mode: String { case fast, safe }
      let store = try fixture.makeStore()
      let own = PreferenceKey("theme", default: Theme.light)
      let other = PreferenceKey("mode", default: Mode.fast, through: RawValueTransformation())
      #expect(try (store.value(for: own), store.value(for: other)) == (.light, .fast))
      try store.set(.dark, for: own)
      try store.set(.safe, for: other)
      let reopened = try fixture.reopened(store)
      #expect(try (reopened.value(forKey: "theme"), reopened.value(forKey: "mode")) == ("dark", "safe"))
      #expect(try (reopened.value(for: own), reopened.value(for: other)) == (.dark, .safe))
      try store.set(["theme": "sepia", "mode": "sepia"])
      let errors = [
        #expect(throws: PreferencesError.self) { try store.value(for: own) },
        #expect(throws: PreferencesError.self) { try store.value(for: other) },
      ]
      #expect(errors.map { $0?.code } == [.outOfRange, .outOfRange])
      #expect(try fixture.reopened(store).value(forKey: "theme") == "sepia")
    },
  ]
}
