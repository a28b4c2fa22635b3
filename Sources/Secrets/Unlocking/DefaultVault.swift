internal import DurableFiles
public import VaultCore

extension Vault {
  /// The path of the vault that is meant where none is named, for programs and the tool `secretprefs` alike:
  /// `$SECRETPREFS_VAULT`, else `secretprefs/default.spv` in `$XDG_DATA_HOME`, else in `~/.local/share`.
  ///
  /// This is a path and nothing more: whether a vault is there, opening it tells.
  /// - Throws: ``VaultError/Code/invalidName`` when a variable is not UTF-8, or `SECRETPREFS_VAULT` is set and empty;
  ///   ``VaultError/Code/notFound`` when there is no home directory.
  public static func defaultPath() throws(VaultError) -> String {
    if let path = try path(in: "SECRETPREFS_VAULT") {
      guard !path.isEmpty else { throw VaultError(.invalidName, "the variable SECRETPREFS_VAULT is empty") }
      return path
    }
    return try dataDirectory() + "/secretprefs/default.spv"
  }

  /// Opens the vault at ``defaultPath()`` with whatever `unlocking` finds: the one that the tool works on in the same
  /// environment.
  /// - Throws: as ``defaultPath()`` and ``open(at:unlocking:options:)``.
  public static func open(unlocking: Unlocking, options: Options = Options()) throws(VaultError) -> Vault {
    try open(at: try defaultPath(), unlocking: unlocking, options: options)
  }

  private static func dataDirectory() throws(VaultError) -> String {
    // The XDG rules: a relative path is invalid and ignored.
    if let data = try path(in: "XDG_DATA_HOME"), data.hasPrefix("/") { return data }
    if let home = try path(in: "HOME"), home.hasPrefix("/") { return home + "/.local/share" }
    throw VaultError(.notFound, "there is no home directory to look for a vault in")
  }

  /// Repaired text would name another file, so it is refused.
  private static func path(in variable: String) throws(VaultError) -> String? {
    guard let bytes = getenv(variable) else { return nil }
    guard let text = String(validatingCString: bytes) else {
      throw VaultError(.invalidName, "\(variable) is not valid UTF-8")
    }
    return text
  }
}
