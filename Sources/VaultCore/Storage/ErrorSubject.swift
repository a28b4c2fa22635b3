package import DurableFiles

/// What an error is about, where its code alone does not say it. It is the cause of the ``VaultError``. Programs choose
/// their advice by it, because the text of an error is for people.
package enum ErrorSubject: Error {
  /// A system call on a file failed.
  case operation(FileOperation, path: String)
  /// A file of the vault, or its directory.
  case file
  /// The mark.
  case mark
  /// A file with a credential, at a path.
  case credential(CredentialFile, path: String)
  /// A storage of this name.
  case storage(String)
  /// The folder for the logs of this machine, which is not named.
  case logFolder
  /// A database.
  case database(DatabaseRefusal)
}

/// A kind of file with a credential, as errors name it.
package enum CredentialFile: String, Sendable, CaseIterable {
  case key = "the key file"
  case deviceKey = "the device key file"
  case identity = "the identity file"
  case passphrase = "the passphrase file"
}

/// What a database lacks or refuses.
package enum DatabaseRefusal: Sendable {
  /// The URL contains a password, or the connection would not be verified.
  case passwordInURL, unverified
  /// The server does not accept the role's password or certificate.
  case authentication
  /// There is no role of the name.
  case noRole
  /// There are no tables for vaults, or those of an earlier version.
  case noSchema, olderSchema
  /// The role lacks a right.
  case reading, writing, logging, requesting
  /// The role has left as many requests as it may.
  case requests
  /// What the code says.
  case other
}

extension VaultError {
  /// What the error is about; `nil` if its code says it.
  package var subject: ErrorSubject? { cause as? ErrorSubject ?? (cause as? VaultError)?.subject }
}
