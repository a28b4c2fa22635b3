// `import Secrets` is sufficient: it also exports stores and layers, the vault, and the types of secret bytes.
@_exported public import PreferenceCoding
@_exported public import PreferenceFiles
@_exported public import PreferenceWrappers
@_exported public import Preferences
@_exported public import VaultCore
@_exported public import VaultSealing
