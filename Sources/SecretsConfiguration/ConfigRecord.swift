#if Configuration
  internal import Configuration
  internal import FoundationEssentials
  internal import Preferences

  /// The record that a configuration key names, by the rule in the documentation of ``VaultConfigProvider``.
  struct ConfigRecord {
    /// The index of the service.
    let service: Int
    let query: PreferenceQuery

    /// - Returns: `nil` if `custody` does not claim the name.
    init?(_ key: AbsoluteConfigKey, in services: [String], claimedBy custody: Custody) throws(PreferencesError) {
      query = try PreferenceQuery(Self.name(of: key), secrecy: .secret)
      guard custody.secrecy(of: query.name) == .secret else { return nil }
      guard let wanted = key.context["service"] else {
        service = 0
        return
      }
      guard case .string(let name) = wanted, let index = services.firstIndex(of: name) else {
        throw PreferencesError(.invalidKey, "the provider has no service \"\(wanted)\"").about(key: query.name.text)
      }
      service = index
    }

    static func absent(_ key: AbsoluteConfigKey) -> LookupResult { LookupResult(encodedKey: name(of: key), value: nil) }

    static func name(of key: AbsoluteConfigKey) -> String { key.components.joined(separator: ".") }

    /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` if the value does not
    ///   convert.
    func result(_ value: PreferenceValue?, _ type: ConfigType) throws(PreferencesError) -> LookupResult {
      let name = query.name.text
      guard let value else { return LookupResult(encodedKey: name, value: nil) }
      do throws(PreferencesError) {
        return LookupResult(encodedKey: name, value: ConfigValue(try ConfigContent(value, as: type), isSecret: true))
      } catch { throw error.about(key: name) }
    }
  }

  extension ConfigType {
    fileprivate var isList: Bool {
      switch self {
      case .stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray: true
      case .string, .int, .double, .bool, .bytes: false
      }
    }
  }

  extension ConfigContent {
    fileprivate init(_ value: PreferenceValue, as type: ConfigType) throws(PreferencesError) {
      let value = type.isList ? Self.list(value) : value
      self =
        switch type {
        case .string: .string(try String(preferenceValue: value))
        case .int: .int(try Int(preferenceValue: value))
        case .double: .double(try Double(preferenceValue: value))
        case .bool: .bool(try Bool(preferenceValue: value))
        case .bytes: .bytes(Array(try Data(preferenceValue: value)))
        case .stringArray: .stringArray(try [String](preferenceValue: value))
        case .intArray: .intArray(try [Int](preferenceValue: value))
        case .doubleArray: .doubleArray(try [Double](preferenceValue: value))
        case .boolArray: .boolArray(try [Bool](preferenceValue: value))
        case .byteChunkArray: .byteChunkArray(try [Data](preferenceValue: value).map { Array($0) })
        }
    }

    /// The list that a text is.
    private static func list(_ value: PreferenceValue) -> PreferenceValue {
      guard case .string(let text) = value else { return value }
      return PreferenceValue(parsing: text, as: .array) ?? value
    }
  }
#endif
