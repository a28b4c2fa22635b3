import FoundationEssentials
import Preferences

/// The description of a setting whose type is not declared in the program.
struct SettingDescription {
  let name: String
  private let kind: PreferenceValue.Kind
  private let isSecret: Bool
  private let isHidden: Bool
  /// The members of a JSON description; empty for an inferred setting.
  private var members: [String: PreferenceValue] = [:]

  /// Infers the description from a stored plain value.
  init(_ name: String, inferredFrom value: PreferenceValue) {
    self.name = name
    kind = value.kind
    isSecret = false
    isHidden = value.hasPassword || SettingName(name).saysSecret(value.kind)
  }

  /// Describes a secret in a sealed layer. Its value is not opened, so it is set as text, whatever its kind.
  init(secret name: String) {
    self.name = name
    kind = .string
    isSecret = true
    isHidden = true
  }

  /// - Throws: ``PreferencesError/Code/malformed`` if members are missing or unknown.
  init(_ members: [String: PreferenceValue]) throws(PreferencesError) {
    guard case .string(let name)? = members["name"] else { throw PreferencesError(.malformed, "a setting has no name") }
    self.name = name
    self.members = members
    do throws(PreferencesError) {
      _ = try PreferenceName(name)
      for member in members.keys.sorted() where !Self.known.contains(member) {
        throw PreferencesError(.malformed, "unknown member \"\(member)\"")
      }
      let secrecy: Bool? = try Self.member("secret", of: members)
      isSecret = secrecy ?? false
      guard let type: String = try Self.member("type", of: members) ?? (isSecret ? "string" : nil),
        let kind = PreferenceValue.Kind(rawValue: type)
      else { throw PreferencesError(.malformed, "no type, or an unknown one") }
      self.kind = kind
      isHidden = secrecy ?? SettingName(name).saysSecret(kind)
    } catch { throw error.about("setting \"\(name)\"") }
  }

  private static let known = [
    "name", "title", "info", "group", "type", "default", "min", "max", "step", "choices", "secret",
  ]

  /// Returns the title of the group and the setting.
  ///
  /// - Throws: ``PreferencesError/Code/malformed`` if members contradict each other or the type,
  ///   ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` if a value has the wrong type or
  ///   breaks a rule. The error names the setting.
  func setting(in store: any PreferencesStore) throws(PreferencesError) -> (group: String, setting: any AnySetting) {
    do throws(PreferencesError) {
      let numeric = ["min", "max", "step"]
      if isSecret {
        try refuse(["default", "choices"] + numeric, because: "the setting is secret")
        guard kind == .string else { throw contradiction("a secret is a string") }
      }
      if ![.integer, .unsignedInteger, .double].contains(kind) { try refuse(numeric, because: "it is not a number") }
      if members["choices"] != nil { try refuse(numeric, because: "it has choices") }
      return (try member("group") ?? SettingName(name).groupTitle, try typed(in: store))
    } catch { throw error.about("setting \"\(name)\"") }
  }

  private func typed(in store: any PreferencesStore) throws(PreferencesError) -> any AnySetting {
    switch kind {
    case .string: return try plain(String.self, in: store)
    case .data: return try plain(Data.self, in: store)
    case .date: return try plain(Date.self, in: store)
    case .url: return try plain(URL.self, in: store)
    case .array: return try plain([PreferenceValue].self, in: store)
    case .dictionary: return try plain([String: PreferenceValue].self, in: store)
    case .integer: return try integer(Int64.self, in: store)
    case .unsignedInteger: return try integer(UInt64.self, in: store)
    case .double: return try double(in: store)
    case .bool:
      try refuse(["choices"], because: "it is a flag")
      return try finished(Setting(PreferenceKey(name, default: member("default") ?? false), in: store))
    }
  }

  private func integer<Value: FixedWidthInteger & PreferenceConvertible>(
    _ type: Value.Type, in store: any PreferencesStore
  ) throws(PreferencesError) -> any AnySetting {
    guard members["choices"] == nil else { return try plain(type, in: store) }
    let bounds = try bounds(try member("min") ?? Value.min, try member("max") ?? Value.max)
    let initial = try member("default") ?? Swift.min(Swift.max(0, bounds.lowerBound), bounds.upperBound)
    let key = PreferenceKey(name, default: initial)
    return try finished(Setting(key, in: store, bounds: bounds, step: member("step") ?? 1))
  }

  private func double(in store: any PreferencesStore) throws(PreferencesError) -> any AnySetting {
    let (min, max, step): (Double?, Double?, Double?) = (try member("min"), try member("max"), try member("step"))
    let bounds = try bounds(min ?? -.infinity, max ?? .infinity)
    guard let step else {
      return try plain(
        Double.self, in: store, [min.map { .range($0...) }, max.map { .range(...$0) }].compactMap { $0 })
    }
    guard min != nil, max != nil else { throw contradiction("a step needs both bounds") }
    let initial = try member("default") ?? Swift.min(Swift.max(0, bounds.lowerBound), bounds.upperBound)
    return try finished(Setting(PreferenceKey(name, default: initial), in: store, bounds: bounds, step: step))
  }

  /// A setting without steps.
  private func plain<Value: PreferenceConvertible & Equatable>(
    _ type: Value.Type, in store: any PreferencesStore, _ rules: [Rule<Value>] = []
  ) throws(PreferencesError) -> any AnySetting {
    let initial: Value? = try member("default")
    let key = PreferenceKey<Value?>(
      name, kind: kind, secrecy: isSecret ? .secret : .plain, makeDefault: { initial },
      decode: { value throws(PreferencesError) in try Value(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value?.preferenceValue })
    var setting = Setting(key, in: store, rules: rules)
    if case .array(let items)? = members["choices"], !items.isEmpty {
      var choices: [(value: Value, title: String)] = []
      for item in items { choices.append(try choice(item, key)) }
      setting = Setting(key, in: store, choices: choices.map(\.value)) { [choices] value in
        choices.first { $0.value == value }?.title ?? key.text(of: value)
      }
    } else if members["choices"] != nil {
      throw contradiction("the choices are not a list")
    }
    guard initial == nil || setting.problems(of: initial).isEmpty else {
      throw PreferencesError(.outOfRange, "the default breaks a rule")
    }
    return try finished(setting)
  }

  private func choice<Value: PreferenceConvertible>(
    _ item: PreferenceValue, _ key: PreferenceKey<Value?>
  ) throws(PreferencesError) -> (value: Value, title: String) {
    var titled = ["value": item]
    if case .dictionary(let members) = item { titled = members }
    guard let value: Value = try Self.member("value", of: titled), Set(titled.keys).isSubset(of: ["value", "title"])
    else { throw contradiction("a choice is a value, or an object of a value and a title") }
    return (value, try Self.member("title", of: titled) ?? key.text(of: value))
  }

  private func finished<Value>(_ setting: Setting<Value>) throws(PreferencesError) -> any AnySetting {
    var setting = setting
    setting.title = try member("title") ?? SettingName(name).title
    setting.info = try member("info") ?? ""
    setting.isHidden = isHidden
    return setting
  }

  // MARK: Members

  private func member<Value: PreferenceConvertible>(_ member: String) throws(PreferencesError) -> Value? {
    try Self.member(member, of: members)
  }

  private static func member<Value: PreferenceConvertible>(
    _ member: String, of members: [String: PreferenceValue]
  ) throws(PreferencesError) -> Value? {
    guard var value = members[member] else { return nil }
    let kind = Value.preferenceKind
    // JSON can represent these kinds only as strings.
    if [.data, .date, .url].contains(kind), case .string(let text) = value {
      value = PreferenceValue(parsing: text, as: kind) ?? value
    }
    do { return try Value(preferenceValue: value) } catch { throw error.about("member \"\(member)\"") }
  }

  private func bounds<Value: Comparable>(_ min: Value, _ max: Value) throws(PreferencesError) -> ClosedRange<Value> {
    guard min <= max else { throw contradiction("the lower bound is above the upper one") }
    return min...max
  }

  private func refuse(_ refused: [String], because reason: String) throws(PreferencesError) {
    for member in refused where members[member] != nil {
      throw contradiction("member \"\(member)\" does not fit: \(reason)")
    }
  }

  private func contradiction(_ message: String) -> PreferencesError { PreferencesError(.malformed, message) }
}
