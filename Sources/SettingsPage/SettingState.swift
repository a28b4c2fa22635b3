#if SettingsPage
  import FoundationEssentials
  import PreferencesSettings
  import Preferences
  import Synchronization
  import VaultSealing

  /// What the page shows of a setting at one moment.
  struct SettingState: Sendable, Encodable {
    let id: Int
    /// A state with a larger number was read later.
    let version: Int
    /// The text to edit; empty for a hidden value, and the formatted value if it cannot be edited.
    var text = ""
    /// The value for people to read; for a hidden one, whether it is set.
    private(set) var formatted = ""
    private(set) var isAtMin = false
    private(set) var isAtMax = false
    /// Why the value cannot be read, or was not stored; empty if all is well.
    private(set) var problem = ""
    /// Whether a change was refused, so that the typed text is kept.
    private(set) var isRefused = false

    private static let versions = Atomic(0)

    init(of setting: any AnySetting, id: Int) {
      self.id = id
      version = Self.versions.add(1, ordering: .relaxed).newValue
      do {
        text = try setting.text
        formatted = try setting.formattedValue
        isAtMin = try setting.isAtMin
        isAtMax = try setting.isAtMax
      } catch { problem = "Cannot be read: \(message(of: error))." }
      if setting.isHidden {
        // Whatever a setting of a different type says.
        text = ""
        formatted = !problem.isEmpty ? "unknown" : formatted.isEmpty ? "not set" : "set"
      }
      if setting.control == .readOnly { text = formatted }
    }

    /// The same state with the reason why a change was not stored.
    func refusing(_ problem: String) -> Self {
      var state = self
      state.problem = problem
      state.isRefused = true
      return state
    }

    var json: String {
      do { return String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } catch { return "null" }
    }
  }

  extension AnySetting {
    /// What the page calls the setting.
    var label: String { title.isEmpty ? name : title }
  }

  /// The message of an error of this package, which contains no value. For any other error only its type, because its
  /// text may contain a value.
  func message(of error: any Error) -> String {
    switch error {
    case let error as VaultError: error.message
    case let error as PreferencesError:
      error.message + (error.cause.map { " (\(message(of: $0)))" } ?? "")
    default: "the store failed with \(type(of: error))"
    }
  }
#endif
