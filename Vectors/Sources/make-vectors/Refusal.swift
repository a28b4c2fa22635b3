/// The error classes that a file can cause (section 11).
enum Refusal: String {
  case notAVault, unsupportedVersion, unsupportedFeature, malformed, limitExceeded, kdfRefused, damaged, tampered
  case credentialRejected, staleCredential, invalidName, wrongDevice, deviceKeyMissing, groupNotGranted
}
