extension EnvironmentPreferences {
  /// Reads the dotenv file at `path`, of at most 16 MiB, with the names of the environment: with the prefix `SHOP` the
  /// key `server.port` is `SHOP_SERVER_PORT`. Later changes of the file are not loaded. ``DotenvPreferences`` uses the
  /// names as they are written.
  ///
  /// - Throws: `PreferencesError` with `notFound`, `unreadable`, `malformed` or `limitExceeded`.
  public init(
    prefix: String? = nil, dotenv path: String, ignoringEmpty ignoresEmpty: Bool = false
  ) throws(PreferencesError) {
    let file = try DictionaryPreferences(contentsOf: path, format: DotenvFormat())
    var variables: [String: String] = [:]
    for (name, value) in file { variables[name] = try String(preferenceValue: value) }
    self.init(prefix: prefix, environment: variables, ignoringEmpty: ignoresEmpty)
  }
}
