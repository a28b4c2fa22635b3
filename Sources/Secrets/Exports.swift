// `import Secrets` is sufficient: it also exports stores and layers, the vault, and the types of secret bytes.
@_exported public import Preferences
@_exported public import VaultCore
