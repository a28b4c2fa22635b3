public import FoundationEssentials
public import Preferences

extension SettingGroup {
  /// The most settings that are inferred or described. A setting takes far more memory than its value.
  static let mostSettings = 10_000

  /// Returns settings for all values of a store, in the order of their names.
  ///
  /// The first part of a name with dots is the group: `server.tlsPort` is *Tls port* in *Server*. A value can be set to
  /// any value of its kind. A value in a sealed layer is hidden and is set as text, whatever its kind. A plain value is
  /// hidden if it is an address with a password, or if its name says that it is a secret, such as `password`, `apiKey`
  /// or `github_token`.
  ///
  /// The kinds are determined by this call. Values that are stored later are not shown. Nor is what this package keeps
  /// for itself: the version of migrated preferences, and the times of a sync.
  /// - Throws: any error of the store; ``PreferencesError/Code/limitExceeded`` for more than 10,000 values.
  public static func groups(inferredFrom store: any PreferencesStore) throws -> [SettingGroup] {
    let custody = store.custody
    // Names without a group first.
    let keys = try store.keys().filter { !PreferenceName.isOwn($0) }
    guard keys.count <= mostSettings else { throw tooMany }
    let names = keys.sorted { ($0.contains(".") ? 1 : 0, $0) < ($1.contains(".") ? 1 : 0, $1) }
    return try groups(
      of: try names.compactMap { name in
        if custody.secrecy(of: try PreferenceName(name)) == .plain, let value = try store.value(forKey: name) {
          return SettingDescription(name, inferredFrom: value)
        }
        // In a store without secrets, the plain value was removed meanwhile.
        return custody.holds(.secret) ? SettingDescription(secret: name) : nil
      }, in: store)
  }

  /// Returns the settings that a JSON array describes, or the setting that an object describes, in the order of the
  /// description. Stored values without a description are not shown.
  ///
  /// ```json
  /// [
  ///   {"name": "server.port", "type": "integer", "min": 1, "max": 65535, "default": 8080},
  ///   {"name": "theme", "type": "string", "choices": ["light", {"value": "dark", "title": "Dark"}]},
  ///   {"name": "smtp.password", "secret": true, "info": "Of the mail server"}
  /// ]
  /// ```
  ///
  /// The members are `name`; `type`, which is a `PreferenceValue.Kind`; `title`, `info` and `group`; `default`; for
  /// numbers `min`, `max` and `step`; `choices`; and `secret`, with which the value is stored in sealed layers only. A
  /// missing `title` or `group` is derived from the name. Without `secret`, a plain value is hidden if its name says
  /// that it is a secret, as in ``groups(inferredFrom:)``; `"secret": false` shows it.
  ///
  /// - Throws: ``PreferencesError/Code/malformed`` if the data is not such JSON, has an unknown member, names a setting
  ///   twice or contradicts itself; ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` if a
  ///   value does not fit its setting; ``PreferencesError/Code/invalidKey``. The error names the setting.
  ///   ``PreferencesError/Code/limitExceeded`` for more than 10,000 settings.
  public static func groups(
    describedBy data: Data, in store: any PreferencesStore
  ) throws(PreferencesError) -> [SettingGroup] {
    let json: PreferenceValue
    do { json = try JSONFormat.value(of: Array(data)) } catch {
      throw PreferencesError(.malformed, "the description is not JSON without null", cause: error)
    }
    var items = [json]
    if case .array(let list) = json { items = list }
    guard items.count <= mostSettings else { throw tooMany }
    var descriptions: [SettingDescription] = []
    var names: Set<String> = []
    for item in items {
      guard case .dictionary(let members) = item else {
        throw PreferencesError(.malformed, "the description is not a list of objects")
      }
      let description = try SettingDescription(members)
      guard names.insert(description.name).inserted else {
        throw PreferencesError(.malformed, "setting \"\(description.name)\": it is described twice")
      }
      descriptions.append(description)
    }
    return try groups(of: descriptions, in: store)
  }

  private static var tooMany: PreferencesError {
    PreferencesError(.limitExceeded, "more than \(mostSettings) settings")
  }

  private static func groups(
    of descriptions: [SettingDescription], in store: any PreferencesStore
  ) throws(PreferencesError) -> [SettingGroup] {
    var groups: [SettingGroup] = []
    for description in descriptions {
      let (title, setting) = try description.setting(in: store)
      if let index = groups.firstIndex(where: { $0.title == title }) {
        groups[index].settings.append(setting)
      } else {
        groups.append(SettingGroup(title, [setting]))
      }
    }
    return groups
  }
}
