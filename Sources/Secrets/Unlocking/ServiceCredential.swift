/// A credential of a service in `$CREDENTIALS_DIRECTORY`, as systemd mounts it.
package enum ServiceCredential: String, CaseIterable {
  case key = ".key"
  case identity = ".identity"
  case passphrase = ".passphrase"
  case deviceKey = "-device.key"

  /// What the names of the files begin with, unless a program says otherwise.
  package static let usualName = "secret-preferences"

  /// The path of its file.
  package func path(in directory: String, name: String = usualName) -> String { "\(directory)/\(name)\(rawValue)" }
}
