internal import DurableFiles
public import VaultCore

extension Vault {
  /// Returns the path of the vault that programs use if no path is given: `$SECRETPREFS_VAULT`, else
  /// `secretprefs/default.spv` in `$XDG_DATA_HOME`, else in `~/.local/share`.
  ///
  /// The tool `secretprefs` uses the same, unless its configuration files name a vault: programs do not read them, so
  /// set `SECRETPREFS_VAULT` to a vault that is named there. The method does not check whether a vault exists at the
  /// path.
  /// - Throws: ``VaultError/Code/invalidName`` if a variable is not UTF-8, or `SECRETPREFS_VAULT` is empty, or names a
  ///   vault in a database; ``VaultError/Code/notFound`` if there is no home directory.
  public static func defaultPath() throws(VaultError) -> String {
    if let path = try Environment.text("SECRETPREFS_VAULT") {
      guard !path.isEmpty else { throw VaultError(.invalidName, "the variable SECRETPREFS_VAULT is empty") }
      guard !["postgresql://", "postgres://"].contains(where: path.hasPrefix) else {
        throw VaultError(
          .invalidName,
          "the variable SECRETPREFS_VAULT names a vault in a database, and this program opens one in a file")
      }
      return path
    }
    return try dataDirectory() + "/secretprefs/default.spv"
  }

  /// Opens the vault at ``defaultPath()`` with the credential that `unlocking` finds. Reads no configuration file of
  /// the tool: set `SECRETPREFS_VAULT` to a vault that is named there.
  /// - Throws: the errors of ``defaultPath()`` and ``open(at:unlocking:options:)``.
  public static func open(unlocking: Unlocking, options: Options = Options()) throws(VaultError) -> Vault {
    let path = try defaultPath()
    let credential = try unlocking.configuredCredential()
    do throws(VaultError) { return try open(at: path, credential: credential, options: options) } catch {
      throw error.namingVariable
    }
  }

  /// The asynchronous form of `open(unlocking:options:)`. Cancelling the task does not stop it.
  public static func open(unlocking: Unlocking, options: Options = Options()) async throws(VaultError) -> Vault {
    let path = try defaultPath()
    let credential = try await unlocking.configuredCredential()
    do throws(VaultError) { return try await open(at: path, credential: credential, options: options) } catch {
      throw error.namingVariable
    }
  }

  private static func dataDirectory() throws(VaultError) -> String {
    // The XDG rules: a relative path is invalid and ignored.
    if let data = try Environment.text("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
    if let home = try Environment.text("HOME"), home.hasPrefix("/") { return home + "/.local/share" }
    throw VaultError(.notFound, "there is no home directory to look for a vault in")
  }
}

extension VaultError {
  /// The error, which for a missing vault names the variable: a file that only the tool reads may name the vault.
  fileprivate var namingVariable: VaultError {
    guard code == .notFound else { return self }
    return VaultError(
      code, "\(message): SECRETPREFS_VAULT names the path of the vault of a program", errno: errno, cause: cause)
  }
}
