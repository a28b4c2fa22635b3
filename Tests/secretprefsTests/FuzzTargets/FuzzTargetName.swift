/// The targets by the names that `Scripts/fuzz` and the corpora know them by.
enum FuzzTargetName: String, CaseIterable {
  case importing, reference, configuration, request, settings, keypress

  func make() throws -> any FuzzTarget {
    switch self {
    case .importing: ImportingTarget()
    case .reference: ReferenceTarget()
    case .configuration: ConfigurationTarget()
    case .request: RequestTarget()
    case .settings: SettingsTarget()
    case .keypress: KeyPressTarget()
    }
  }
}
