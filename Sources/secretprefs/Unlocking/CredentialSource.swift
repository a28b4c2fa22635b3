/// Where a credential came from, in the words of `status`.
enum CredentialSource: String {
  case passphraseDescriptor = "--passphrase-fd"
  case keyFile = "--key-file"
  case identity = "--identity"
  case passphraseCommand = "--passphrase-command"
  case credentialsDirectory = "$CREDENTIALS_DIRECTORY"
  case keyFileVariable = "$SECRETPREFS_KEY_FILE"
  case identityVariable = "$SECRETPREFS_IDENTITY_FILE"
  case passphraseVariable = "$SECRETPREFS_PASSPHRASE"
  case passphraseCommandVariable = "$SECRETPREFS_PASSPHRASE_COMMAND"
  case keptKey = "the key of \"secretprefs unlock\""
  case prompt = "a prompt"
}
