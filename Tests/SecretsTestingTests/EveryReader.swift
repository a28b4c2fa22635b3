import FoundationEssentials
import Preferences
import Secrets
import SecretsTesting

extension StoreUnderTest {
  /// Every kind of what can only be read.
  static let everyReader =
    foundationReaders + [
      StoreUnderTest(
        "environment", isText: true,
        reading: { _, values in
          EnvironmentPreferences(
            prefix: "SHOP",
            environment: Dictionary(
              uniqueKeysWithValues: values.map { key, value in
                ("SHOP_" + key.uppercased().replacing(".", with: "_"), text(of: value))
              }))
        }),
      StoreUnderTest(
        "dotenv file", isText: true,
        reading: { fixture, values in
          let file = try DotenvPreferences(at: fixture.folder + "/" + fixture.uniqueName(), options: .creating)
          try await file.set(values.mapValues { .string(text(of: $0)) })
          return file.readOnly
        }),
      StoreUnderTest(
        "launch arguments", isText: true,
        reading: { _, values in
          LaunchArgumentPreferences(values.map { key, value in "--\(key)=\(text(of: value))" })
        }),
      StoreUnderTest(
        "collection",
        reading: { _, values in
          CollectionPreferences(values.sorted { $0.key < $1.key }, key: \.key, value: \.value)
        }),
      StoreUnderTest(
        "keys and values from closures",
        reading: { _, values in
          KeysPreferences(keys: { Array(values.keys) + values.keys }, value: { values[$0] })
        }),
      StoreUnderTest(
        "properties of a value", reading: { _, values in ReflectingPreferences(Properties(values: values)) }),
      StoreUnderTest("read-only dictionary", reading: { _, values in DictionaryPreferences(values).readOnly }),
      StoreUnderTest(
        "read-only vault",
        reading: { fixture, values in
          let secrets = try fixture.kept(orKeep: try ThrowawayVault(in: fixture.folder)).preferences(
            service: fixture.uniqueName())
          try await secrets.set(values)
          return secrets.readOnly
        }),
      StoreUnderTest(
        "environment below a prefix", isText: true,
        reading: { _, values in
          EnvironmentPreferences(
            environment: Dictionary(
              uniqueKeysWithValues: values.map { key, value in
                ("SHOP_" + key.uppercased().replacing(".", with: "_"), text(of: value))
              })
          ).below("shop.")
        }),
      remote(JSONFormat(keepingTypes: true)), remote(PropertyListFormat(.binary, keepingTypes: true)),
      StoreUnderTest(
        "composite of what can only be read",
        reading: { _, values in
          [EnvironmentPreferences(environment: [:]), DictionaryPreferences(values).readOnly] as CompositePreferences
        }),
    ]

  /// A server whose only response has the values.
  private static func remote<Format: PreferenceFileFormat>(_ format: Format) -> StoreUnderTest {
    StoreUnderTest(
      "\(Format.name) from a server",
      reading: { _, values in
        let response = RemoteResponse(status: 200, bytes: try format.bytes(of: values, replacing: nil))
        let reader = RemotePreferences(name: "server", format: format) { _ in response }
        try await reader.load()
        return reader
      })
  }

  /// The text that is parsed as a value.
  static func text(of value: PreferenceValue) -> String {
    switch value {
    case .string(let text): text
    case .data(let data): data.base64EncodedString()
    case .bool(let flag): flag ? "yes" : "no"
    case .integer(let number): "\(number)"
    case .unsignedInteger(let number): "\(number)"
    case .double(let number): "\(number)"
    case .date(let date): date.formatted(.iso8601)
    case .url(let url): url.absoluteString
    case .array, .dictionary: ""
    }
  }
}

/// A value whose properties have the names that it is given.
private struct Properties: CustomReflectable {
  let values: [String: PreferenceValue]
  var customMirror: Mirror { Mirror(self, children: values.map { (label: $0.key as String?, value: $0.value as Any) }) }
}
