internal import VaultSealing

extension VaultError {
  @inline(never) static func malformed(_ part: StaticString) -> VaultError {
    VaultError(.malformed, "\(part) breaks the format")
  }

  static var endsEarly: VaultError { .malformed("a body that ends early") }
  static var endsLate: VaultError { .malformed("a body with bytes behind its end") }

  @inline(never) static func tampered(_ part: String) -> VaultError {
    VaultError(.tampered, "\(part): changed without the key, or repaired incorrectly after a disk error")
  }
}
